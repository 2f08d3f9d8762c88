//! Files of friction problems in every format: what is read, what is refused and how, and that writing loses nothing.

use crate::siconos_files;

use std::io::{Cursor, Write};

use proptest::prelude::*;
use stiction_contact::io::{AnyProblem, FrictionFile, Kind, ReadOptions, read, read_bytes};
use stiction_contact::{FrictionProblem, GlobalFrictionProblem, InputError, SparseMatrix};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn any(name: &str, contents: impl AsRef<[u8]>) -> Result<AnyProblem, InputError> {
    read_bytes(name, contents.as_ref(), &ReadOptions::default())
}

fn parse(name: &str, contents: impl AsRef<[u8]>) -> Result<FrictionFile, InputError> {
    any(name, contents).map(|problem| match problem {
        AnyProblem::Friction(file) => file,
        AnyProblem::Complementarity(file) => panic!("{name} is a problem of kind {}", file.problem.as_ref().kind()),
        AnyProblem::Contact(_) => panic!("{name} is a contact problem"),
    })
}

fn parse_as(kind: Kind, name: &str, contents: impl AsRef<[u8]>) -> Result<AnyProblem, InputError> {
    read_bytes(name, contents.as_ref(), &ReadOptions { kind: Some(kind), ..ReadOptions::default() })
}

fn message(name: &str, contents: impl AsRef<[u8]>) -> String {
    any(name, contents).expect_err("this file is bad").to_string()
}

/// The kind of a complementarity problem.
fn complementarity(contents: &str) -> &'static str {
    match any("a.dat", contents) {
        Ok(AnyProblem::Complementarity(file)) => file.problem.as_ref().kind(),
        other => panic!("{other:?}\n{contents}"),
    }
}

fn sparse(rows: usize, cols: usize, entries: &[(usize, usize, f64)]) -> SparseMatrix {
    SparseMatrix::from_entries(rows, cols, entries.iter().copied()).unwrap()
}

/// One contact in space, its W not symmetric.
fn one() -> FrictionFile {
    let w = sparse(3, 3, &[(0, 0, 1.0), (1, 0, 2.0), (1, 1, 4.0), (2, 2, -0.5)]);
    FrictionProblem::new(3, w, vec![-1.0, 2.0, 3.0], vec![0.7]).unwrap().into()
}

/// One contact in space on three velocities, which a local problem could begin like.
fn one_global() -> FrictionFile {
    let mass = sparse(3, 3, &[(0, 0, 1.0), (1, 0, 2.0), (1, 1, 4.0), (2, 2, -0.5)]);
    let h = sparse(3, 3, &[(0, 0, 1.0), (2, 1, 3.0), (1, 2, -2.0)]);
    let (f, b) = (vec![1.0, 2.0, 3.0], vec![-1.0, 0.0, 0.25]);
    GlobalFrictionProblem::new(3, mass, h, f, b, vec![0.5]).unwrap().into()
}

/// Two contacts in the plane on three velocities.
fn two_global() -> FrictionFile {
    let mass = sparse(3, 3, &[(0, 0, 1.0), (1, 1, 2.0), (2, 2, 3.0)]);
    let h = sparse(3, 4, &[(0, 0, 1.0), (2, 1, 3.0), (1, 3, -2.0)]);
    let (f, b) = (vec![1.0, 2.0, 3.0], vec![-1.0, 0.0, 0.25, 1e-300]);
    GlobalFrictionProblem::new(2, mass, h, f, b, vec![0.5, f64::INFINITY]).unwrap().into()
}

mod siconos {
    use super::*;
    use stiction_lcp::io::Kind as LcpKind;

    const DENSE: &str = "3 1\n0 3 3\n3 3\n1 2 0\n0 4 0\n0 0 -0.5\n-1 2 3\n0.7";
    const GLOBAL: &str = "3 1  0 3 3 3 3  1 2 0 0 4 0 0 0 -0.5  0 3 3 3 3  1 0 0 0 0 3 0 -2 0  1 2 3  -1 0 0.25  0.5";

    #[test]
    fn every_storage_gives_the_same_problem() {
        let blocks = "3 1  1 3 3  3 2 2  1 3  1 3  3 3  0 1 3  0 0 1   0 1   1 2 0   2 4 0 0 -0.5   -1 2 3  0.7  1";
        let banner = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016";
        let triplet = format!(
            "3 1 2 3 3 1 {banner}\ntriplet: 3-by-3, nzmax: 9 nnz: 5\n0 0 : 0.5\n1 0 : 2\n1 1 : 4\n2 2 : -0.5\n0 0 : 0.5\n-1 2 3 0.7"
        );
        let columns = format!(
            "3 1 2 3 3 2 {banner}\n3-by-3, nzmax: 4 nnz: 4, 1-norm: 4\ncol 0 : locations 0 to 1\n0 : 1\n1 : 2\n\
             col 1 : locations 2 to 2\n1 : 4\ncol 2 : locations 3 to 3\n2 : -0.5\n-1 2 3 0.7"
        );
        for text in [DENSE, blocks, &triplet, &columns] {
            assert_eq!(parse("a.dat", text).as_ref(), Ok(&one()), "{text}");
        }
    }

    #[test]
    fn text_after_the_coefficients_is_a_comment() {
        for comment in [" 0", "\n1\n", " remark 3 4", " 1 2 3 4", "\nz = 5"] {
            assert_eq!(parse("a.dat", format!("{DENSE}{comment}")), Ok(one()), "{comment}");
            assert_eq!(parse("a.dat", format!("{GLOBAL}{comment}")), Ok(one_global()), "{comment}");
        }
    }

    #[test]
    fn local_and_global_problems_are_told_apart_by_what_follows_the_matrix() {
        assert_eq!(parse("a.dat", GLOBAL), Ok(one_global()));
        let two = "2 2  1 3 3 3 3 3  1 2 3  1 2 3  4 3  0 1 2 3  0 1 2  0 1  1 2  2 3  \
                   0 3 4 3 4  1 0 0  0 0 3  0 0 0  0 -2 0  1 2 3  -1 0 0.25 1e-300  0.5 inf";
        assert_eq!(parse("a.dat", two), Ok(two_global()));
        // A q like the beginning of a matrix H: the kind must be said.
        let q_like_h = DENSE.replace("-1 2 3", "0 3 3");
        let refused = message("a.dat", &q_like_h);
        assert!(refused.contains("kind friction reads W and q here"), "{refused}");
        let Ok(AnyProblem::Friction(FrictionFile::Local(p))) = parse_as(Kind::Friction, "a.dat", &q_like_h) else {
            panic!("a local problem");
        };
        assert_eq!(p.q(), [0.0, 3.0, 3.0]);
        // A global problem that is cut off is not taken for a local one.
        let cut = message("a.dat", "3 1  0 3 3 3 3  1 2 0 0 4 0 0 0 -0.5  0 3 3");
        assert!(cut.contains("in H of a global problem"), "{cut}");
    }

    /// M and f alone: b, mu and the columns of H are empty.
    #[test]
    fn a_global_problem_without_contacts_is_read_and_has_nothing_to_solve() {
        for dim in [2, 3] {
            let h = ["0 4 0 4 0", "1 4 0 0"];
            for h in h {
                let text = format!("{dim} 0  0 4 4 4 4  1 0 0 0  0 2 0 0  0 0 3 0  0 0 0 4  {h}  1 2 3 4  1");
                let Ok(FrictionFile::Global(p)) = parse("a.dat", &text) else { panic!("a global problem: {text}") };
                let local = p.to_local().unwrap();
                assert_eq!((local.dim(), local.contacts(), local.q().len()), (dim, 0, 0));
            }
        }
    }

    #[test]
    fn the_kind_can_be_said() {
        let Ok(AnyProblem::Friction(FrictionFile::Local(p))) = parse_as(Kind::Friction, "a.dat", GLOBAL) else {
            panic!("W and q as asked for");
        };
        assert_eq!((p.q(), p.mu()), (&[0.0, 3.0, 3.0][..], &[3.0][..]));
        assert_eq!(parse_as(Kind::GlobalFriction, "a.dat", GLOBAL), Ok(AnyProblem::Friction(one_global())));
        let refused = parse_as(Kind::GlobalFriction, "a.dat", DENSE).unwrap_err().to_string();
        assert!(refused.contains("in H of a global problem"), "{refused}");
        let refused = parse_as(Kind::Complementarity(LcpKind::Lcp), "a.dat", DENSE).unwrap_err().to_string();
        assert!(refused.contains("looks like a friction-contact problem"), "{refused}");
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("cone".parse::<Kind>().unwrap_err().to_string().contains("contact, found 'cone'"));
    }

    #[test]
    fn complementarity_problems_stay_what_they_are() {
        assert_eq!(complementarity("2 0 2 2 2 2  1 0 0 1  -5 6"), "lcp");
        assert_eq!(complementarity("3 0 3 3 3 3  1 0 0 0 1 0 0 0 1  -5 6 1"), "lcp");
        assert_eq!(complementarity("1 1 1 1  1 1 1  1  1  2 1  0 1  0  0 2  -1"), "lcp");
        assert_eq!(complementarity("2 0 2 2 2 2  1 0 0 1  5 6  -1 -inf  1 inf"), "box");
        assert_eq!(complementarity("0 1 1 2  1  5 6 8 9  2 3  4 7  10  11 12"), "mlcp");
        // Order 2 in two blocks: the numbers 2 1 2 2 2 could be a contact in the plane with a sparse matrix.
        assert_eq!(complementarity("2 1 2 2 2 2 2  1 2  1 2  3 2  0 1 2  0 1  0 1  1 1  -5 6"), "lcp");
        let sparse = "2 1 2 2 2 1 CSparse\ntriplet: 2-by-2, nzmax: 2 nnz: 2\n0 0 : 1\n1 1 : 1\n-5 6 0.5";
        assert_eq!(parse("a.dat", sparse).map(|p| p.kind()), Ok(Kind::Friction));
    }

    #[test]
    fn kinds_that_are_not_read_are_named() {
        let rolling = format!("5 1 0 5 5 5 5 {}", "1 ".repeat(32));
        let plane = "3 2 1 6 6 0  1 2 3 4 5 6  0.5 0.5  0.1 0.1  1";
        for (text, what) in [
            (
                rolling.as_str(),
                "this is a rolling friction-contact problem (1 contact of dimension 5), which is not supported yet",
            ),
            (
                "5 1 1 6 6 0 1 6 5 0 1 1 1 1 1 1 1 1 1 1 1 0.5 0.1",
                "this is a global rolling friction-contact problem (1 contact",
            ),
            (plane, "this is a rolling friction-contact problem in the plane, which is not supported yet"),
            ("1 2 2 1 1 1 2 2 2 1 0 1 0 0 1 0 0 1 -1 -1 0", "a generic mechanical problem, which is not supported yet"),
        ] {
            let text = message("a.dat", text);
            assert!(text.contains(what), "{text}");
        }
        assert!(matches!(parse_as(Kind::Friction, "a.dat", plane), Ok(AnyProblem::Friction(FrictionFile::Local(_)))));
        assert!(message("Rolling/one.dat", format!("{DENSE} 0.1")).contains("in the plane"));
    }

    #[test]
    fn bad_files_get_a_place_and_an_expectation() {
        for (text, expected) in [
            (DENSE.replace("3 1\n0 3 3\n3 3", "3 1\n0 3 3\n3 4"), "a.dat:3:3: the size 3 × 3 is repeated as 3 × 4"),
            (DENSE.replace("-1 2 3", "-1 x 3"), "a.dat:7:4: 'x' is not a number, expected an entry of q"),
            (DENSE.replace("\n0.7", ""), "a.dat:7:7: 1 numbers are needed for a friction coefficient, but at most 0"),
            (DENSE.replace("0.7", "-0.7"), "mu[0] must be at least 0, found -0.7"),
            (DENSE.replace("0.7", "nan"), "a.dat:8:1: 'nan' is not finite"),
            (DENSE.replacen("3 1", "3 1000000000000", 1), "contacts do not fit into this file"),
            ("4 2 1 8 8 0 1 2 3 4 5 6 7 8 0.5 0.5".into(), "a.dat:1:1: a contact has 2 or 3 rows, found 4"),
            ("3 2 1 5 5 0 1 2 3 4 5 6 7 8 9".into(), "in H of a global problem"),
            (GLOBAL.replace("0 3 3 3 3  1 0 0 0 0 3 0 -2 0", "0 3 3 3 3  1 0 0 0 0 3 0 -2 y"), "'y' is not a number"),
            ("3 1 0 3 3 3 3".into(), "9 numbers are needed for an entry of the matrix"),
            ("3 400000 0 1200000 1200000 1200000 1200000 1".into(), "do not fit into this file"),
            (
                "3 1 1 18446744073709551615 18446744073709551615 0 1 18446744073709551615 3 0 1 2".into(),
                "numbers are needed for",
            ),
            ("3 1 2 3 3 1 triplet: 3-by-3, nzmax: 1 nnz: 1\n3 0 : 1\n1 2 3 0.5".into(), "'3' is no row index below 3"),
            (format!("{DENSE}x"), "'0.7x' is not a number"),
        ] {
            let found = message("a.dat", &text);
            assert!(found.starts_with("a.dat") && found.contains(expected), "{text}\n{found}\n{expected}");
        }
    }

    #[test]
    fn no_prefix_of_a_file_is_misread() {
        for text in [DENSE, GLOBAL] {
            for end in 0..text.len() - 2 {
                assert!(any("a.dat", &text[..end]).is_err(), "{}", &text[..end]);
            }
        }
    }
}

mod json {
    use super::*;

    #[test]
    fn dense_rows_and_entries_are_the_same() {
        let dense = r#"{"W": [[1, 0, 0], [2, 4, 0], [0, 0, -0.5]], "q": [-1, 2, 3], "mu": [0.7]}"#;
        let entries = r#"{"kind": "friction", "name": "one", "comment": "", "dim": 3, "q": [-1, 2, 3], "mu": [0.7],
            "W": {"rows": 3, "cols": 3, "entries": [[0, 0, 0.5], [2, 2, -0.5], [1, 0, 2], [1, 1, 4], [0, 0, 0.5]]}}"#;
        for text in [dense, entries] {
            assert_eq!(parse("a.json", text), Ok(one()));
            assert_eq!(parse("no extension", text), Ok(one()));
        }
        let global = r#"{"M": [[1, 0, 0], [0, 2, 0], [0, 0, 3]], "f": [1, 2, 3], "b": [-1, 0, 0.25, 1e-300], "mu": [0.5, "inf"],
            "H": {"entries": [[0, 0, 1], [2, 1, 3], [1, 3, -2]], "rows": 3, "cols": 4}}"#;
        assert_eq!(parse("a.json", global), Ok(two_global()));
        assert_eq!(
            any("a.json", r#"{"M": [[1]], "q": [-1]}"#).map(|p| matches!(p, AnyProblem::Complementarity(_))),
            Ok(true)
        );
    }

    #[test]
    fn problems_without_contacts_are_read() {
        for text in [
            r#"{"W": [], "q": [], "mu": []}"#,
            r#"{"kind": "friction", "dim": 2, "W": {"rows": 0, "cols": 0, "entries": []}, "q": [], "mu": []}"#,
            r#"{"M": [[1]], "H": [[]], "f": [1], "b": [], "mu": []}"#,
            r#"{"M": [], "H": [], "f": [], "b": [1, 2], "mu": [0.5]}"#,
        ] {
            let read = parse("a.json", text).unwrap();
            assert_eq!(parse("a.json", read.to_json()), Ok(read));
        }
    }

    #[test]
    fn bad_files_get_the_line_and_the_key() {
        let good = r#"{"W": [[1, 0], [0, 1]], "q": [1, 2], "mu": [0.5]}"#;
        assert!(parse("a.json", good).is_ok());
        for (text, expected) in [
            (
                good.replace("\"mu\"", "\"nu\"").replace("\"q\"", "\"dim\": 2, \"q\""),
                r#"unknown key "nu"; did you mean "mu"?"#,
            ),
            (good.replace("[0.5]", "[-0.5]"), "mu[0] must be at least 0"),
            (good.replace("[0.5]", "[null]"), "expected a number or \"inf\" for mu[0]"),
            (good.replace("[0.5]", "[0.5, 1]"), "q has 2 numbers and mu 2"),
            (good.replace("[1, 2]", "[1, \"inf\"]"), "expected a number for q[1]"),
            (good.replace("[0, 1]", "[0]"), "W[1] has 1 numbers, the rows before it have 2"),
            (good.replace("{\"W\"", "{\"dim\": 3, \"W\""), "rows of W: expected 3, found 2"),
            (good.replace("{\"W\"", "{\"dim\": 2.5, \"W\""), "a whole number for dim"),
            (good.replace("{\"W\"", "{\"kind\": \"lcp\", \"W\""), "friction or global-friction, found \"lcp\""),
            (good.replace("{\"W\"", "{\"f\": [], \"W\""), "M is missing"),
            (good.replace(", \"q\": [1, 2]", ""), "q is missing"),
            (good.replace("{\"W\"", "{\"q\": [1], \"W\""), "a.json:1:"),
            (good.replace("[[1, 0], [0, 1]]", "3"), "a list of rows, or an object with rows, cols and entries, for W"),
            (good.replace("[[1, 0], [0, 1]]", r#"{"rows": 2, "entries": []}"#), "W: rows, cols and entries are needed"),
            (
                good.replace("[[1, 0], [0, 1]]", r#"{"rows": 2, "row": 2}"#),
                "W: unknown key \"row\"; did you mean \"rows\"?",
            ),
            (
                good.replace("[[1, 0], [0, 1]]", r#"{"rows": 2, "cols": 2, "entries": [[0, 0, 1], [0, 2, 1]]}"#),
                "column of an entry, below",
            ),
            (
                good.replace("[[1, 0], [0, 1]]", r#"{"rows": 2, "cols": 2, "entries": [[0, 0]]}"#),
                "[row, column, number] for W.entries[0]",
            ),
            (
                good.replace("[[1, 0], [0, 1]]", r#"{"rows": 2, "cols": 2, "entries": [[0, 0, 1, 1]]}"#),
                "[row, column, number] for W.entries[0]",
            ),
            (
                good.replace("[[1, 0], [0, 1]]", r#"{"rows": 2, "cols": 2, "entries": [[0, -1, 1]]}"#),
                "a whole number for W.entries[0][1]",
            ),
            (
                good.replace("[[1, 0], [0, 1]]", r#"{"rows": 1000000000000, "cols": 1000000000000, "entries": []}"#),
                "rows of W: expected 2, found 1000000000000",
            ),
            (r#"{"kind": "global-friction", "W": []}"#.into(), "M is missing"),
            (format!("{good} x"), "trailing characters"),
            (good[..30].into(), "the file ends early"),
        ] {
            let found = message("a.json", &text);
            assert!(found.starts_with("a.json") && found.contains(expected), "{text}\n{found}");
        }
        let refused = parse_as(Kind::GlobalFriction, "a.json", good).unwrap_err().to_string();
        assert_eq!(refused, "a.json: the file holds a problem of kind friction, not global-friction");
    }

    #[test]
    fn what_the_documentation_shows_is_read() {
        let text = include_str!("../../../../docs/file-formats.md");
        let blocks = |mark: &str| -> Vec<&str> {
            text.split(mark).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
        };
        let read = |name: &str, examples: Vec<&str>| -> Vec<&str> {
            examples
                .iter()
                .map(|e| parse(name, e).unwrap_or_else(|error| panic!("{error}\n{e}")).kind().name())
                .collect()
        };
        assert_eq!(read("a.json", blocks("```json friction\n")), ["friction", "friction", "global-friction"]);
        assert_eq!(read("a.dat", blocks("```text friction\n")), ["friction", "global-friction"]);
    }

    fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = SparseMatrix> {
        let value = prop_oneof![
            Just(0.0),
            Just(-0.0),
            Just(5e-324),
            -1e3..1e3,
            proptest::num::f64::ANY.prop_filter("finite", |x| x.is_finite())
        ];
        prop::collection::btree_map((0..rows.max(1), 0..cols.max(1)), value, 0..8).prop_map(move |entries| {
            let inside = entries.into_iter().filter(|((i, j), _)| *i < rows && *j < cols);
            SparseMatrix::from_entries(rows, cols, inside.map(|((i, j), x)| (i, j, x))).unwrap()
        })
    }

    fn problem() -> impl Strategy<Value = FrictionFile> {
        (2usize..4, 0usize..4, 0usize..5).prop_flat_map(|(dim, contacts, freedoms)| {
            let n = dim * contacts;
            let mu = prop::collection::vec(prop_oneof![0.0..2.0, Just(f64::INFINITY), Just(-0.0)], contacts);
            let vector = |n| prop::collection::vec(prop_oneof![-1.0..1.0, Just(-0.0), Just(f64::MIN_POSITIVE)], n);
            let local = (matrix(n, n), vector(n), mu.clone())
                .prop_map(move |(w, q, mu)| FrictionProblem::new(dim, w, q, mu).unwrap().into());
            let global = (matrix(freedoms, freedoms), matrix(freedoms, n), vector(freedoms), vector(n), mu)
                .prop_map(move |(m, h, f, b, mu)| GlobalFrictionProblem::new(dim, m, h, f, b, mu).unwrap().into());
            prop_oneof![local, global]
        })
    }

    /// All numbers of a problem, by their bits: −0 is not 0.
    fn bits(file: &FrictionFile) -> Vec<u64> {
        let lists: Vec<&[f64]> = match file {
            FrictionFile::Local(p) => vec![p.w().parts().2, p.q(), p.mu()],
            FrictionFile::Global(p) => vec![p.mass().parts().2, p.h().parts().2, p.f(), p.b(), p.mu()],
        };
        lists.concat().iter().map(|x| x.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_bit_for_bit(file in problem()) {
            let again = parse("a.json", file.to_json()).unwrap();
            prop_assert_eq!(bits(&again), bits(&file));
            prop_assert_eq!(again, file);
        }
    }
}

mod npz {
    use super::*;

    fn archive(arrays: &[(&str, &str, &[f64])]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, shape, data) in arrays {
            let dict = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
            zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
            zip.write_all(&[b"\x93NUMPY\x01\x00", &(dict.len() as u16).to_le_bytes()[..], dict.as_bytes()].concat())
                .unwrap();
            zip.write_all(&data.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    const W: (&str, &str, &[f64]) = ("W", "(3, 3)", &[1.0, 0.0, 0.0, 2.0, 4.0, 0.0, 0.0, 0.0, -0.5]);
    const Q: (&str, &str, &[f64]) = ("q", "(3, 1)", &[-1.0, 2.0, 3.0]);
    const MU: (&str, &str, &[f64]) = ("mu", "(1,)", &[0.7]);

    #[test]
    fn arrays_make_problems() {
        assert_eq!(parse("a.npz", archive(&[W, Q, MU])), Ok(one()));
        assert_eq!(parse("no extension", archive(&[MU, ("dim", "()", &[3.0]), W, Q])), Ok(one()));
        let mass = ("M", "(3, 3)", &[1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0][..]);
        let h = ("H", "(3, 4)", &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0, 0.0, 3.0, 0.0, 0.0][..]);
        let vectors = [("f", "(3,)", &[1.0, 2.0, 3.0][..]), ("b", "(4,)", &[-1.0, 0.0, 0.25, 1e-300])];
        let mu = ("mu", "(2,)", &[0.5, f64::INFINITY][..]);
        assert_eq!(parse("a.npz", archive(&[mass, h, vectors[0], vectors[1], mu])), Ok(two_global()));
        let lcp = any("a.npz", archive(&[("M", "(1, 1)", &[1.0]), ("q", "(1,)", &[1.0])]));
        assert!(matches!(lcp, Ok(AnyProblem::Complementarity(_))));
    }

    #[test]
    fn bad_archives_get_the_name() {
        for (arrays, expected) in [
            (&[W, Q][..], "a.npz: mu is missing"),
            (&[W, Q, MU, ("m", "(1,)", &[0.0])], "unknown array \"m\"; did you mean \"M\"?"),
            (&[W, Q, MU, ("M", "(1, 1)", &[0.0])], "a.npz: H is missing"),
            (&[W, Q, MU, ("dim", "(1,)", &[2.5])], "dim: expected 2 or 3, found [2.5]"),
            (&[W, Q, MU, ("dim", "(1,)", &[2.0])], "rows of W: expected 2, found 3"),
            (&[("W", "(9,)", W.2), Q, MU], "W: expected a matrix, found an array of shape [9]"),
            (&[W, Q, ("mu", "(1,)", &[f64::NAN])], "mu[0]"),
            (&[W, ("q", "(3,)", &[f64::INFINITY, 0.0, 0.0]), MU], "q[0] is inf"),
        ] {
            let found = message("a.npz", archive(arrays));
            assert!(found.contains(expected), "{found}");
        }
    }
}

/// Kind, rows per contact, contacts, and entries of W, or of M and H, of Siconos' files.
const SICONOS: [(&str, &str, usize, usize, &[usize]); 22] = [
    ("Box_Stacks-i0122-82-5.hdf5", "global-friction", 3, 82, &[450, 1284]),
    ("Capsules-i101-404.dat", "friction", 3, 225, &[9099]),
    ("Confeti-ex03-Fc3D-SBM.dat", "friction", 3, 54, &[1281]),
    ("Confeti-ex13-4contact-Fc3D-SBM.dat", "friction", 3, 4, &[144]),
    ("FC2D_SliderCrankLagrangian00000.dat", "friction", 2, 2, &[16]),
    ("FC3D_Example1.dat", "friction", 3, 3, &[9]),
    ("FC3D_Example1_SBM.dat", "friction", 3, 3, &[9]),
    ("FrictionContact3D_1c.dat", "friction", 3, 1, &[9]),
    ("FrictionContactProblem00031.dat", "friction", 2, 11, &[60]),
    ("FrictionContactProblem00374.dat", "friction", 2, 28, &[76]),
    ("GFC3D_Example00.dat", "global-friction", 3, 1, &[3, 3]),
    ("GFC3D_OneContact.dat", "global-friction", 3, 1, &[333, 16]),
    ("LMGC_100_PR_PerioBox-i00361-60-03000.hdf5", "friction", 3, 60, &[7848]),
    ("OneObject-i100000-499.hdf5.dat", "friction", 3, 24, &[1476]),
    ("Rover1039.dat", "friction", 3, 4, &[144]),
    ("Rover11035.dat", "friction", 3, 1, &[9]),
    ("Rover4144.dat", "friction", 3, 4, &[144]),
    ("Rover4396.dat", "friction", 3, 2, &[36]),
    ("fc2d_granularflowonwall_00667_00000.dat", "friction", 2, 667, &[3822]),
    ("fc2d_granularflowonwall_02020_00213.dat", "friction", 2, 2020, &[20608]),
    ("gfc2d_granularflowonwall_00069_00350.dat", "global-friction", 2, 69, &[900, 724]),
    ("CubeH8.hdf5", "global-friction", 3, 1, &[2976, 40]),
];

#[test]
fn the_files_of_siconos_are_told_apart_and_read_whatever_their_names_are() {
    let Some(folder) = siconos_files::folder() else { return };
    let (mut known, mut refused) = (0, 0);
    for sub in ["FrictionContact", "python", "RollingFrictionContact", "GenericMechanical"] {
        for path in siconos_files::files(&folder.join(sub)) {
            let name = path.file_name().unwrap().to_string_lossy().to_string();
            let bytes = std::fs::read(&path).unwrap();
            if ["RollingFrictionContact", "GenericMechanical"].contains(&sub) {
                let text = message("x", &bytes);
                assert!(text.contains("which is not supported yet"), "{name}: {text}");
                refused += 1;
                continue;
            }
            let file = parse("x", &bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(read(&path, &ReadOptions::default()), Ok(AnyProblem::Friction(file.clone())));
            assert_eq!(parse("x.json", file.to_json()).as_ref(), Ok(&file), "{name}");
            let Some(expected) = SICONOS.iter().find(|s| s.0 == name) else { continue };
            let (dim, contacts, entries) = match &file {
                FrictionFile::Local(p) => (p.dim(), p.contacts(), vec![p.w().entries()]),
                FrictionFile::Global(p) => (p.dim(), p.contacts(), vec![p.mass().entries(), p.h().entries()]),
            };
            assert_eq!(
                (file.kind().name(), dim, contacts, &entries[..]),
                (expected.1, expected.2, expected.3, expected.4)
            );
            known += 1;
        }
    }
    for sub in ["LCP", "MLCP", "Relay"] {
        for path in siconos_files::files(&folder.join(sub)) {
            let read = read(&path, &ReadOptions::default());
            assert!(matches!(read, Ok(AnyProblem::Complementarity(_))), "{}: {read:?}", path.display());
        }
    }
    assert!(known > 0 && refused > 0, "{known} files read, {refused} refused");
}
