//! Problem files of every format: what is read, what is refused and how, and that writing loses nothing.

use crate::siconos_files;

use std::io::{Cursor, Write};

use proptest::prelude::*;
use stiction_lcp::io::{Kind, ProblemFile, ReadOptions, read, read_bytes};
use stiction_lcp::{BoxLcp, FactoredLcp, InputError, Lcp, Matrix, Mlcp, Problem};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn parse(name: &str, text: impl AsRef<[u8]>) -> Result<Problem, InputError> {
    read_bytes(name, text.as_ref(), &ReadOptions::default()).map(|file| file.problem)
}

fn parse_as(kind: Kind, text: &str) -> Result<Problem, InputError> {
    read_bytes("file.dat", text.as_bytes(), &ReadOptions { kind: Some(kind), ..ReadOptions::default() })
        .map(|f| f.problem)
}

fn message(name: &str, text: impl AsRef<[u8]>) -> String {
    parse(name, text).expect_err("this file is bad").to_string()
}

fn lcp(rows: &[[f64; 2]; 2], q: [f64; 2]) -> Problem {
    Lcp::new(Matrix::from_rows(rows).unwrap(), q.to_vec()).unwrap().into()
}

mod siconos {
    use super::*;

    const DENSE: &str = "2\n0\n2\n2\n2\t2\n 1.0e+00 2e0\n 3 -0.4e1\n -5 6";

    #[test]
    fn dense_entries_run_down_the_columns() {
        assert_eq!(parse("a.dat", DENSE), Ok(lcp(&[[1.0, 3.0], [2.0, -4.0]], [-5.0, 6.0])));
    }

    #[test]
    fn text_after_the_last_number_is_a_comment() {
        for comment in ["\nRemark 4.1.14\nz = 1 2", " 0.5 0.25", " # 1 2 3 4", "\n\n"] {
            assert_eq!(parse("a.dat", format!("{DENSE}{comment}")), parse("a.dat", DENSE), "{comment}");
        }
    }

    #[test]
    fn blocks_may_be_missing_and_are_column_major() {
        // Block rows of 1 and 2, block columns of 1 and 2; blocks (0,1) and (1,0) stored.
        let text = "3 1 3 3  2 2 2  1 3  1 3  3 2  0 1 2  1 0   0 7 8   1 5 6   1 1 1";
        let m = Matrix::from_rows(&[[0.0, 7.0, 8.0], [5.0, 0.0, 0.0], [6.0, 0.0, 0.0]]).unwrap();
        assert_eq!(parse("a.dat", text), Ok(Lcp::new(m, vec![1.0; 3]).unwrap().into()));
        let zero = Lcp::new(Matrix::zeros(2, 2), vec![1.0, -1.0]).unwrap();
        assert_eq!(parse("a.dat", "2 1 2 2 0 1 -1"), Ok(zero.into()));
    }

    #[test]
    fn sparse_matrices_are_read_as_csparse_prints_them() {
        let banner = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016";
        let expected = Ok(lcp(&[[1.0, 3.0], [2.0, 0.0]], [-1.0, -2.0]));
        let triplet = format!(
            "2 2 2 2 1 {banner}\ntriplet: 2-by-2, nzmax: 9 nnz: 4\n 0 0 : 0.5\n 1 0 : 2\n 0 1 : 3\n 0 0 : 0.5\n -1 -2"
        );
        assert_eq!(parse("a.dat", &triplet), expected, "repeated entries add up");
        let columns = format!(
            "2 2 2 2 2 {banner}\n2-by-2, nzmax: 3 nnz: 3, 1-norm: 3\n col 0 : locations 0 to 1\n 0 : 1\n 1 : 2\n col 1 : locations 2 to 2\n 0 : 3\n-1 -2"
        );
        assert_eq!(parse("a.dat", &columns), expected);
        let rows = columns
            .replace("\n2-by-2", "\ncsr: 2-by-2")
            .replace(" 1 : 2\n", " 1 : 3\n")
            .replace(" 0 : 3\n", " 0 : 2\n");
        assert_eq!(parse("a.dat", rows), expected);
        let empty_column = columns.replace("\n 0 : 3", "").replace("2 to 2", "2 to 1").replace("nnz: 3", "nnz: 2");
        assert_eq!(parse("a.dat", empty_column), Ok(lcp(&[[1.0, 0.0], [2.0, 0.0]], [-1.0, -2.0])));
        for (from, to, complaint) in [
            ("nnz: 4", "nnz: 5", "5 entries were announced, 4 follow"),
            ("1 0 : 2", "2 0 : 2", "'2' is no row index below 2"),
            ("2-by-2", "3-by-2", "repeated as 3 × 2"),
            ("triplet: 2-by-2,", "", "expected"),
            ("0 1 : 3", "0 1 : x", "'x' is not a number"),
        ] {
            let text = message("a.dat", triplet.replace(from, to));
            assert!(text.contains(complaint), "{text}");
        }
    }

    const MLCP: &str =
        "1 1 1 2  0 1 3  0 1  0 3 3 3 3  1 4 7  2 5 8  3 6 9  10 11 12   1  5 6 8 9  2 3  4 7  10  11 12";

    #[test]
    fn a_mixed_problem_has_two_storages() {
        let m = Matrix::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]).unwrap();
        let expected: Problem = Mlcp::new(m, vec![10.0, 11.0, 12.0], vec![true, false, false]).unwrap().into();
        assert_eq!(parse("a.dat", MLCP).as_ref(), Ok(&expected));
        assert_eq!(parse("a.dat", format!("{MLCP} -1.0 0.0 4.0")).as_ref(), Ok(&expected), "a solution at the end");
        let first_only = MLCP.replacen("1 1", "1 0", 1);
        assert_eq!(parse("a.dat", first_only).as_ref(), Ok(&expected));
        let second_only = "0 1 1 2  1  5 6 8 9  2 3  4 7  10  11 12";
        assert_eq!(parse("a.dat", second_only).as_ref(), Ok(&expected));
        let differ = message("a.dat", MLCP.replace("5 6 8 9", "5 6 8 9.5"));
        assert!(differ.contains("the two differ: row 2 has 9 in M, q and 9.5 in A"), "{differ}");
    }

    #[test]
    fn free_rows_may_stand_anywhere() {
        let text = "1 0 2 1  0 1 2 3  0 1 0  0 3 3 3 3  1 0 0 0 1 0 0 0 1  1 2 3";
        let Ok(Problem::Mlcp(p)) = parse("a.dat", text) else { panic!("an mlcp") };
        assert_eq!(p.free(), [true, false, true]);
        let wrong = message("a.dat", text.replacen("1 0 2 1", "1 0 1 2", 1));
        assert!(wrong.contains("the header says 1 equations, the blocks have 2"), "{wrong}");
    }

    #[test]
    fn a_rectangular_mixed_problem_is_refused_in_words() {
        let text = "1 0 1 1  0 1 2  0 1  0 3 2 3 2  1 1 1 1 1 1  1 1 1";
        assert!(
            message("a.dat", text).contains("3 × 2; mixed problems are read only with as many equations as unknowns")
        );
    }

    const RELAY: &str = "2 0 2 2 2 2  1 0 0 1  5 6  -1 -inf  1 inf";

    #[test]
    fn a_relay_problem_has_bounds() {
        let bounds = (vec![-1.0, f64::NEG_INFINITY], vec![1.0, f64::INFINITY]);
        let expected: Problem = BoxLcp::new(Matrix::identity(2), vec![5.0, 6.0], bounds.0, bounds.1).unwrap().into();
        for name in ["a.dat", "relay_1.dat", "Relay/step.dat"] {
            assert_eq!(parse(name, RELAY).as_ref(), Ok(&expected), "{name}");
        }
        assert_eq!(parse_as(Kind::Relay, RELAY), Ok(expected));
    }

    #[test]
    fn the_name_decides_only_where_both_kinds_fit() {
        let as_lcp = Ok(lcp(&[[1.0, 0.0], [0.0, 1.0]], [5.0, 6.0]));
        assert_eq!(parse("lcp_with_solution.dat", RELAY), as_lcp);
        assert_eq!(parse_as(Kind::Lcp, RELAY), as_lcp);
        // Bounds out of order are no bounds.
        assert_eq!(parse("a.dat", RELAY.replace("-1 -inf", "2 -inf")), as_lcp);
        assert_eq!(parse("a.dat", "2 0 2 2 2 2  1 0 0 1  5 6"), as_lcp);
        let short = message("relay.dat", "2 0 2 2 2 2  1 0 0 1  5 6  -1 -1 1");
        assert!(short.contains("an upper bound") && short.contains("read as a relay problem"), "{short}");
        let empty = message("relay.dat", "1 0 1 1 1 1  1  5  3 2");
        assert!(empty.contains("bounds of row 0: 3 ≤ z ≤ 2 is empty"), "{empty}");
    }

    #[test]
    fn problems_of_order_zero_and_one() {
        let empty: Problem = Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap().into();
        assert_eq!(parse("a.dat", "0 0 0 0 0 0"), Ok(empty));
        let one = |q| Ok(Lcp::new(Matrix::identity(1), vec![q]).unwrap().into());
        assert_eq!(parse("a.dat", "1 0 1 1 1 1 1 0"), one(0.0));
        assert_eq!(parse("a.dat", "1 1 1 1  1 1 1 1 1  2 1 0 1 0  0 1  0.5"), one(0.5), "by blocks");
    }

    #[test]
    fn a_place_is_a_line_and_a_column() {
        assert!(message("x/a.dat", "2 0 2 2 2 2\n1 0 0 1\n  5 sïx").starts_with("x/a.dat:3:5: 'sïx' is not a number"));
        assert!(
            message("a.dat", "2 0 2 2 2 2\n1 0 0 1\n  5 ").starts_with("a.dat:3:5: the file ends where an entry of q")
        );
        assert!(
            message("a.dat", "2 0 2 2\n 3 2 1 1 1 1 1 1").starts_with("a.dat:2:4: the size 2 × 2 is repeated as 3 × 2")
        );
        assert!(message("mlcp.dat", "1 2 3").starts_with("mlcp.dat:1:3: expected 0 or 1"));
    }

    #[test]
    fn absurd_sizes_are_refused_before_anything_is_allocated() {
        let n = "1000000000000000000";
        for text in [
            format!("{n} 0 {n} {n} {n} {n} 1 2 3"),
            format!("{n} 1 {n} {n} 0 1 2 3"),
            format!("{n} 1 {n} {n} 1 1 1 {n} {n} 2 1 0 1 0 0 1 2 3"),
            format!("{n} 2 {n} {n} 1 triplet: 1-by-1, nzmax: 1 nnz: 1 0 0 : 1"),
            format!("2 1 2 2 1 {n} {n} 1 1"),
            format!("1 1 {n} {n} 0 1 2 3"),
            format!("0 1 {n} {n} 0 1 2 3"),
            format!("0 1 0 {n} 0 1 2 3"),
            "1 1 18446744073709551615 2 0 1 2 3".to_string(),
            "11000 2 11000 11000 1 triplet: 11000-by-11000, nzmax: 0 nnz: 0 1".to_string(),
        ] {
            let text = message("a.dat", text);
            assert!(text.starts_with("a.dat"), "{text}");
        }
        // A sparse matrix that the rest of the file backs up is held to the limit.
        let large = format!("200 1 200 200 0 {}", "1 ".repeat(200));
        assert!(parse("a.dat", &large).is_ok());
        let options = ReadOptions { max_numbers: 10_000, ..ReadOptions::default() };
        let refused = read_bytes("a.dat", large.as_bytes(), &options).unwrap_err().to_string();
        assert_eq!(refused, "a.dat: a dense matrix of 200 × 200 is above the limit of 10000 numbers");
    }

    #[test]
    fn kinds_that_are_not_read_are_named_and_not_misread() {
        for (text, what) in [
            (
                "2 2 0 4 4 4 4 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 1 1 1 1 0.5 0.5",
                "a friction-contact problem (2 contacts of dimension 2)",
            ),
            ("2 1 0 2 2 2 2 1 0 0 1 1 1 0.5", "a friction-contact problem (1 contact of dimension 2)"),
            ("3 1 1 39 39 1", "a global friction-contact problem"),
            (
                "5 4 2 768 768 1 CSparse Version triplet: 768-by-768, nzmax: 1536",
                "a global rolling friction-contact problem",
            ),
            (
                "2 1 2 2 2 2 CSparse 2-by-2, nzmax: 1 nnz: 0, 1-norm: 0",
                "a friction-contact problem (1 contact of dimension 2)",
            ),
            ("1 1 1 1 1 1 1 1 2 1 0 1 0 0 3.5 -1 0", "a generic mechanical problem"),
        ] {
            let text = message("a.dat", text);
            assert!(text.contains(what), "{text}");
        }
    }
}

mod json {
    use super::*;

    fn file(text: &str) -> Result<ProblemFile, InputError> {
        read_bytes("a.json", text.as_bytes(), &ReadOptions::default())
    }

    #[test]
    fn every_kind_is_read_and_its_kind_may_be_left_out() {
        let both = |kind: &str, fields: &str| {
            let with = parse("a.json", format!("{{\"kind\": \"{kind}\", {fields}}}")).unwrap();
            assert_eq!(parse("a.json", format!("{{{fields}}}")).unwrap(), with);
            assert_eq!(with.as_ref().kind(), kind);
            with
        };
        assert_eq!(both("lcp", r#""M": [[1, 2], [3, 4]], "q": [5, -6]"#), lcp(&[[1.0, 2.0], [3.0, 4.0]], [5.0, -6.0]));
        let mixed = both("mlcp", r#""M": [[1, 2], [3, 4]], "q": [5, 6], "free": [true, false]"#);
        assert_eq!(both("mlcp", r#""A": [[1]], "B": [[4]], "C": [[2]], "D": [[3]], "g": [5], "h": [6]"#), mixed);
        let infinite = both("box", r#""M": [[1, 0], [0, 1]], "q": [1, 1], "lo": ["-inf", 0], "hi": [2, "inf"]"#);
        assert_eq!(both("box", r#""M": [[1, 0], [0, 1]], "q": [1, 1], "lo": [null, 0], "hi": [2, null]"#), infinite);
        let g = Matrix::from_rows(&[[1.0, 2.0, 3.0]]).unwrap();
        let expected = FactoredLcp::least_squares(g.clone(), vec![2.0]).unwrap();
        assert_eq!(both("factored", r#""G": [[1, 2, 3]], "u": [2]"#), expected.into());
        let expected = FactoredLcp::new(g, vec![1.0, 0.0, -1.0]).unwrap();
        let expected = expected.with_bounds(vec![0.0; 3], vec![1.0, 2.0, f64::INFINITY]).unwrap();
        let fields = r#""G": [[1, 2, 3]], "e": [1, 0, -1], "lo": [0, 0, 0], "hi": [1, 2, "inf"]"#;
        assert_eq!(both("factored", fields), expected.into());
    }

    #[test]
    fn a_basis_a_name_and_a_comment_come_along() {
        let read = file(r#"{"M": [[1]], "q": [1], "basis": "w", "name": "one", "comment": "a \"quote\"\n"}"#).unwrap();
        assert_eq!(read.basis.as_ref().unwrap().to_string(), "w");
        assert_eq!((read.name.as_deref(), read.comment.as_deref()), (Some("one"), Some("a \"quote\"\n")));
        assert_eq!(file(&read.to_json()).unwrap(), read);
        assert!(message("a.json", r#"{"M": [[1]], "q": [1], "basis": "ww"}"#).contains("has 2 letters"));
    }

    #[test]
    fn empty_blocks_and_problems() {
        assert_eq!(parse("a.json", r#"{"M": [], "q": []}"#).unwrap().as_ref().n(), 0);
        let no_equations = r#"{"A": [], "B": [[1]], "C": [], "D": [[]], "g": [], "h": [1]}"#;
        assert_eq!(parse("a.json", no_equations).unwrap().as_ref().n(), 1);
        assert_eq!(parse("a.json", r#"{"G": [], "e": [1, 2]}"#).unwrap().as_ref().n(), 2);
        assert_eq!(parse("a.json", r#"{"G": [[], []], "u": [1, 2]}"#).unwrap().as_ref().n(), 0);
        for text in [r#"{"G": [], "u": []}"#, r#"{"G": [], "e": [1]}"#, r#"{"G": [[]], "u": [2]}"#, no_equations] {
            let read = file(text).unwrap();
            assert_eq!(file(&read.to_json()).unwrap(), read, "{text}");
        }
    }

    #[test]
    fn bad_files_get_the_line_and_the_key() {
        for (text, expected) in [
            ("", "a.json:1:1: the file ends early"),
            (
                "{\n \"M\": [[1, 2],\n  [3, true]]}",
                "a.json:3:10: invalid type: boolean `true`, expected a number for M[1][1]",
            ),
            (r#"{"M": [[1]], "M": [[1]]}"#, "M is given twice"),
            (r#"{"kind": "lcp", "kind": "lcp"}"#, "kind is given twice"),
            (r#"{"M": [[1]], "q": [NaN]}"#, "a.json:1:20: expected value"),
            (r#"{"M": [[1]], "q": ["inf"]}"#, "expected a number for q[0]"),
            (r#"{"M": [[1]], "q": [null]}"#, "expected a number for q[0]"),
            (
                r#"{"M": [[1]], "q": [1], "lo": ["low"], "hi": [1]}"#,
                r#"expected a number, "inf", "-inf" or null for lo[0]"#,
            ),
            (r#"{"M": [[1]], "q": 1}"#, "invalid type: integer `1`, expected a list of numbers for q"),
            (r#"{"M": [1], "q": [1]}"#, "expected a list of numbers for M[0]"),
            (r#"{"free": [1]}"#, "expected true or false for free[0]"),
            (r#"{"kind": 3}"#, "expected a string for kind"),
            (r#"{"low": [1]}"#, r#"unknown key "low"; did you mean "lo"?"#),
            (r#"{"m": [[1]]}"#, r#"unknown key "m"; did you mean "M"?"#),
            (r#"{"frictioncoefficient": 1}"#, "unknown key \"frictioncoefficient\"; known are M, q"),
            (r#"{"M": [[1]], "q": [1]} {"#, "trailing characters"),
            (r#"{"M": [[1]]}"#, "a.json: q is missing"),
            (r#"{"G": [[1]]}"#, "a.json: e or u is missing"),
            (r#"{"G": [[1]], "e": [1], "u": [1]}"#, "e and u cannot both be given"),
            (r#"{"M": [[1]], "q": [1], "hi": [1]}"#, "lo is missing"),
            (
                r#"{"kind": "lcp", "M": [[1]], "q": [1], "lo": [1]}"#,
                "lo has no place in a problem of kind lcp; it belongs to box",
            ),
            (r#"{"M": [[1]], "q": [1], "free": []}"#, "free: expected 1, found 0"),
            (
                r#"{"A": [[1, 2]], "B": [[1]], "C": [[1]], "D": [[1]], "g": [1], "h": [1]}"#,
                "columns of A: expected 1, found 2",
            ),
            ("\u{feff}{\"M\": [[1]], \"q\": [x]}", "expected value"),
        ] {
            let found = message("a.json", text);
            assert!(found.starts_with("a.json") && found.contains(expected), "{text}\n{found}");
        }
        let deep = "[".repeat(100_000);
        assert!(message("a.json", format!("{{\"M\": {deep}")).contains("M[0]"));
    }

    #[test]
    fn what_the_documentation_shows_is_read() {
        let text = include_str!("../../../../docs/file-formats.md");
        let blocks = |mark: &str| -> Vec<&str> {
            text.split(mark).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
        };
        let examples = blocks("```json\n");
        assert!(examples.len() >= 5, "examples of every kind");
        for example in &examples {
            let read = file(example).unwrap_or_else(|e| panic!("{e}\n{example}"));
            assert_eq!(file(&read.to_json()).unwrap(), read);
        }
        for kind in ["lcp", "mlcp", "box", "factored"] {
            assert!(examples.iter().any(|e| file(e).unwrap().problem.as_ref().kind() == kind), "{kind}");
        }
        let kinds: Vec<&str> = blocks("```text\n")
            .into_iter()
            .map(|e| parse("a.dat", e).unwrap_or_else(|error| panic!("{error}\n{e}")).as_ref().kind())
            .collect();
        assert_eq!(kinds, ["lcp", "box", "mlcp"]);
    }
}

mod npz {
    use super::*;

    fn header(descr: &str, fortran: bool, shape: &str) -> Vec<u8> {
        let order = if fortran { "True" } else { "False" };
        let dict = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\x00", &(dict.len() as u16).to_le_bytes()[..], dict.as_bytes()].concat()
    }

    fn f8(shape: &str, numbers: &[f64]) -> Vec<u8> {
        let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        [header("<f8", false, shape), data].concat()
    }

    fn archive(method: CompressionMethod, arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in arrays {
            let options = SimpleFileOptions::default().compression_method(method).large_file(true);
            zip.start_file(format!("{name}.npy"), options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn m() -> Vec<u8> {
        f8("(2, 2)", &[1.0, 2.0, 3.0, 4.0])
    }

    #[test]
    fn stored_and_deflated_arrays_in_both_orders() {
        let expected = Ok(lcp(&[[1.0, 2.0], [3.0, 4.0]], [5.0, -6.0]));
        let q = f8("(2,)", &[5.0, -6.0]);
        let columns: Vec<u8> = [1.0f32, 3.0, 2.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let fortran = [header("<f4", true, "(2, 2)"), columns].concat();
        let integers: Vec<u8> = [1i32, 2, 3, 4].iter().flat_map(|x| x.to_be_bytes()).collect();
        let integers = [header(">i4", false, "(2, 2)"), integers].concat();
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            for matrix in [m(), fortran.clone(), integers.clone()] {
                assert_eq!(parse("a.npz", archive(method, &[("M", matrix), ("q", q.clone())])), expected);
            }
        }
        // Without the extension, and with q as a column.
        let bytes = archive(CompressionMethod::Stored, &[("q", f8("(2, 1)", &[5.0, -6.0])), ("M", m())]);
        assert_eq!(parse("a.dat", bytes), expected);
    }

    #[test]
    fn the_arrays_decide_the_kind() {
        let kind = |arrays: &[(&str, Vec<u8>)]| {
            parse("a.npz", archive(CompressionMethod::Stored, arrays)).unwrap().as_ref().kind()
        };
        let v = |x: f64| f8("(2,)", &[x, x]);
        assert_eq!(kind(&[("M", m()), ("q", v(1.0)), ("lo", v(f64::NEG_INFINITY)), ("hi", v(1.0))]), "box");
        let free = [header("|b1", false, "(2,)"), vec![1, 0]].concat();
        assert_eq!(kind(&[("M", m()), ("q", v(1.0)), ("free", free)]), "mlcp");
        assert_eq!(kind(&[("G", m()), ("u", v(1.0))]), "factored");
        assert_eq!(kind(&[("G", m()), ("e", v(1.0)), ("lo", v(0.0)), ("hi", v(1.0))]), "factored");
    }

    #[test]
    fn bad_archives_are_refused_with_the_array() {
        let q = || ("q", f8("(2,)", &[1.0, 1.0]));
        let bad = |arrays: &[(&str, Vec<u8>)]| message("a.npz", archive(CompressionMethod::Deflated, arrays));
        for (array, expected) in [
            (header("<f8", false, "(100000, 100000)"), "M: an array of shape [100000, 100000] is above the limit"),
            (header("<f8", false, "(1000000000000000000000, 2)"), "M: the array's header cannot be read"),
            (header("<f8", false, "(0, 1000000000000000)"), "above the limit"),
            (header("<f8", false, "(6000, 6000)"), "M: an array of shape [6000, 6000] is above the limit"),
            (header("<f8", false, "(5000, 5000)"), "M: shape [5000, 5000] takes 200000000 bytes, the file cannot hold"),
            (f8("(2, 2)", &[1.0]), "M: shape [2, 2] takes 32 bytes, found 8"),
            (f8("(2, 2)", &[1.0; 5]), "M: more bytes follow than the 32"),
            (f8("(2, 2)", &[f64::NAN; 4]), "M[0, 0] is NaN"),
            (f8("(4,)", &[1.0; 4]), "M: expected a matrix, found an array of shape [4]"),
            (header("<c16", false, "(2, 2)"), "M: numbers of type \"<c16\" are not read"),
            (b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "M: the array ends within its header"),
            (b"\x93NUMPY\x09\x00\x00\x00\x00\x00".to_vec(), "M: version 9.0"),
            (b"hello, world".to_vec(), "M: this is not a NumPy array"),
        ] {
            let found = bad(&[("M", array), q()]);
            assert!(found.starts_with("a.npz: ") && found.contains(expected), "{expected}: {found}");
        }
        assert!(bad(&[("M", m())]).contains("q is missing"));
        assert!(bad(&[("Q", m())]).contains("unknown array \"Q\"; did you mean \"q\"?"));
        assert!(bad(&[("indices", m()), ("indptr", m())]).contains("SciPy"));
        let mut broken = archive(CompressionMethod::Stored, &[("M", m()), q()]);
        let at = broken.windows(8).position(|w| w == 3.0f64.to_le_bytes()).unwrap();
        broken[at] ^= 1;
        assert!(message("a.npz", broken).contains("M: "));
    }
}

/// Doubles of every size, zero of both signs, the smallest and the largest.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        prop::sample::select(vec![0.0, -0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::MIN, 0.1, 1e22, 1e23]),
    ]
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

proptest! {
    #[test]
    fn json_keeps_every_bit(n in 0usize..5, numbers in prop::collection::vec(number(), 40), kind in 0..3) {
        let m = Matrix::from_fn(n, n, |i, j| numbers[5 * i + j]);
        let q = numbers[25..25 + n].to_vec();
        let (lo, hi): (Vec<f64>, Vec<f64>) = (0..n)
            .map(|i| (numbers[30 + i], numbers[35 + i]))
            .map(|(a, b)| (a.min(b), if b > 0.5 { f64::INFINITY } else { a.max(b) }))
            .unzip();
        let problem: Problem = match kind {
            0 => Lcp::new(m, q).unwrap().into(),
            1 => Mlcp::new(m, q, (0..n).map(|i| numbers[i] > 0.0).collect()).unwrap().into(),
            _ => BoxLcp::new(m, q, lo, hi).unwrap().into(),
        };
        let text = ProblemFile::from(problem.clone()).to_json();
        let read = parse("a.json", &text).unwrap();
        prop_assert_eq!(&read, &problem);
        let (a, b) = (read.as_ref(), problem.as_ref());
        prop_assert_eq!(bits(a.q()), bits(b.q()));
        for (i, j) in (0..n * n).map(|k| (k / n, k % n)) {
            prop_assert_eq!(a.entry(i, j).to_bits(), b.entry(i, j).to_bits());
        }
        for i in 0..n {
            prop_assert_eq!(bits(&[a.bound(i).0, a.bound(i).1]), bits(&[b.bound(i).0, b.bound(i).1]));
        }
    }
}

#[test]
fn every_siconos_file_is_read_or_named() {
    let Some(root) = siconos_files::folder() else { return };
    for (folder, kind) in [("LCP", "lcp"), ("MLCP", "mlcp"), ("Relay", "box")] {
        for path in siconos_files::files(&root.join(folder)) {
            let problem = read(&path, &ReadOptions::default()).unwrap().problem;
            assert_eq!(problem.as_ref().kind(), kind, "{}", path.display());
        }
    }
    for folder in ["FrictionContact", "GenericMechanical", "RollingFrictionContact"] {
        for path in siconos_files::files(&root.join(folder)) {
            let message = read(&path, &ReadOptions::default()).unwrap_err().to_string();
            assert!(message.contains("looks like") || message.contains("HDF5"), "{message}");
        }
    }
}
