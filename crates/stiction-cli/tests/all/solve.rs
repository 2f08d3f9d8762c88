//! The binary from outside: exit codes, streams, and messages for bad input of every format.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn stiction(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(words).output().expect("the binary runs")
}

fn file(name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, contents).unwrap();
    path.to_str().unwrap().to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Bad input: exit 2, and one line `error: …` on standard error, which is given back, or with --json one object on standard output.
fn refused(words: &[&str]) -> String {
    check_refused(stiction(words))
}

fn check_refused(output: Output) -> String {
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    if let Ok(object) = serde_json::from_slice::<serde_json::Value>(&output.stdout) {
        assert!(err.is_empty() && object["exit_code"] == 2, "{object}");
        return format!("error: {}", object["error"].as_str().expect("a message"));
    }
    assert_eq!(text(&output.stdout), "");
    assert!(err.starts_with("error: ") && err.ends_with('\n') && err.lines().count() == 1, "{err:?}");
    err.trim_end().to_string()
}

/// The message about a bad file, without the folder in front of its name.
fn about(name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = file(name, contents);
    let message = refused(&["solve", &path, "--json"]);
    message.strip_prefix(&format!("error: {path}")).unwrap_or_else(|| panic!("{message} names {path}")).to_string()
}

#[test]
fn usage_errors_are_bad_input() {
    assert!(refused(&["solve"]).contains("<FILE>"));
    assert!(refused(&[]).contains("subcommand"));
    assert!(refused(&["slove"]).contains("'solve'"));
    assert!(refused(&["solve", "x", "--solver", "lemk"]).contains("'lemke'"));
    assert!(refused(&["solve", "x", "--kind", "fc"]).contains("lcp, mlcp, relay"));
    assert!(refused(&["solve", "x", "--tolerance", "abc"]).contains("--tolerance"));
    assert!(refused(&["solve", "x", "--max-pivots", "-3"]).contains("-3"));
    assert!(refused(&["solve", "x", "--max-flops", "1e9"]).contains("--max-flops"));
    assert!(refused(&["solve", "x", "--jsn"]).contains("'--json'"));
    assert!(refused(&["solve", "x", "--force"]).contains("--write-json"));
    for tolerance in ["0", "1", "-1", "nan", "inf"] {
        assert!(refused(&["solve", "x", "--tolerance", tolerance]).contains("option tolerance: must be above 0"));
    }
}

#[test]
fn help_version_and_list_are_no_errors() {
    for (words, expected) in [
        (&["--help"][..], "solve"),
        (&["solve", "--help"], "--write-json"),
        (&["--version"], "stiction 0."),
        (&["solve", "--list"], "projected-gauss-seidel"),
    ] {
        let output = stiction(words);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains(expected) && output.stderr.is_empty());
    }
}

#[test]
fn a_file_that_is_not_there_or_no_file_is_named() {
    assert_eq!(
        refused(&["solve", "no/such/file.dat"]),
        "error: no/such/file.dat: cannot be opened: No such file or directory"
    );
    let folder = env!("CARGO_TARGET_TMPDIR");
    assert_eq!(refused(&["solve", folder]), format!("error: {folder}: is a directory, expected a file"));
}

#[test]
fn bad_text_files_get_a_place_and_an_expectation() {
    assert_eq!(about("empty.dat", ""), ": the file is empty");
    assert_eq!(about("blank.dat", " \n\t\n"), ": the file is empty");
    assert_eq!(
        about("word.dat", "hello world"),
        ":1:1: 'hello' is not a whole number, expected the order n of the problem"
    );
    let short = about("short.dat", "2\n0\n2\n2\n2 2\n1 0 0 1\n1");
    assert!(short.contains("q") && (short.contains("the file ends") || short.contains("can follow")), "{short}");
    assert_eq!(about("nan.dat", "1\n0 1 1 1 1\n nan 1"), ":3:2: 'nan' is not finite, expected an entry of the matrix");
    assert!(about("range.dat", "1\n0 1 1 1 1\n 1 1e999").starts_with(":3:4: '1e999' is out of the range"));
    assert!(about("huge.dat", "1000000 0 1000000 1000000 1000000 1000000 1 2").contains("limit"));
    assert!(
        about("vast.dat", "1000000000000000000 1 1000000000000000000 1000000000000000000 0").contains("can follow")
    );
    assert!(about("beyond.dat", "99999999999999999999999 0 1 1").contains("too large"));
    assert!(about("garbled.dat", b"\x00\xff\xfe\x01 3 0 \x80").contains("not a whole number"));
    assert!(about("storage.dat", "2 7 2 2 1").contains("expected 0 (dense), 1 (blocks) or 2 (sparse)"));
    assert!(about("flat.dat", "2 0 2 3 2 3 1 2 3 4 5 6 7 8").contains("must be 2 × 2, found 2 × 3"));
}

#[test]
fn files_of_other_kinds_are_named() {
    let rolling = format!("5 1 0 5 5 5 5 {}", "1 ".repeat(32));
    assert!(about("rolling.dat", rolling).contains("a rolling friction-contact problem"));
    let generic = "1 2 2 1 1 1 2 2 2 1 0 1 0 0 1 0 0 1 -1 -1 0";
    assert!(about("generic.dat", generic).contains("a generic mechanical problem"));
    assert!(about("fclib.hdf5", b"\x89HDF\r\n\x1a\n....").contains("HDF5"));
    assert!(about("one.npy", b"\x93NUMPY\x01\x00").contains("numpy.savez"));
    let path = file("asked.dat", FRICTION);
    assert!(refused(&["solve", &path, "--kind", "lcp"]).contains("looks like a friction-contact problem"));
}

/// One contact that slides: W = 1, q = (−1, 2, 0), mu = 0.5.
const FRICTION: &str = "3 1 0 3 3 3 3  1 0 0 0 1 0 0 0 1  -1 2 0  0.5";

#[test]
fn a_friction_problem_is_solved_under_the_model_asked_for() {
    let path = file("slides.dat", FRICTION);
    let report = |words: &[&str]| {
        let output = stiction(&[&["solve", &path, "--json"], words].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let near = |value: &serde_json::Value, expected: [f64; 3]| {
        let found: Vec<f64> = value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    };
    let cone = report(&[]);
    assert_eq!((&cone["outcome"], &cone["model"]), (&"solved".into(), &"coulomb-cone".into()));
    assert_eq!((&cone["problem"]["kind"], &cone["problem"]["contacts"]), (&"friction".into(), &1.into()));
    assert_eq!(cone["modes"][0], "slide");
    assert!(cone["residual"].as_f64().unwrap() < 1e-14 && cone["contact_error"].as_f64().unwrap() < 1e-14);
    near(&cone["r"], [1.0, -0.5, 0.0]);
    near(&cone["u"], [0.0, 1.5, 0.0]);
    near(&report(&["--model", "coulomb-polyhedral", "--solver", "lemke"])["r"], [1.0, -0.5, 0.0]);
    near(&report(&["--model", "frictionless"])["r"], [1.0, 0.0, 0.0]);
    let people = text(&stiction(&["solve", &path]).stdout);
    assert!(people.contains("1 contact of dimension 3") && people.contains("0 open, 0 stick, 1 slide"), "{people}");
}

#[test]
fn options_without_a_meaning_for_friction_problems_are_refused() {
    let path = file("refused.dat", FRICTION);
    for model in ["viscous", "no-slip", "coulomb-pyramid", "baraff-friction", "drumwright-shell"] {
        assert!(refused(&["solve", &path, "--model", model]).contains("needs mass and Jacobians"));
    }
    for flags in [&["--exact"][..], &["--trace"], &["--start", "z"]] {
        assert!(refused(&[&["solve", &path], flags].concat()).contains("is for complementarity problems"));
    }
    assert!(refused(&["solve", &path, "--solver", "lemke"]).contains("coulomb-cone"));
    assert!(refused(&["solve", &path, "--model", "coulomb"]).contains("coulomb-cone"));
    let lcp = file("model.dat", "1 0 1 1 1 1  1  -1");
    assert!(
        refused(&["solve", &lcp, "--model", "coulomb-cone"]).contains("--model is for friction and contact problems")
    );
}

#[test]
fn a_global_problem_with_a_singular_mass_is_named() {
    let singular = r#"{"M": [[0]], "H": [[1, 0, 0]], "f": [1], "b": [0, 0, 0], "mu": [0.5]}"#;
    assert!(about("singular.json", singular).starts_with(": M is singular"));
}

#[test]
fn a_friction_problem_can_be_written_and_read_again() {
    let (path, copy) = (file("written.dat", FRICTION), file("written.json", ""));
    assert_eq!(stiction(&["solve", &path, "--write-json", &copy, "--force"]).status.code(), Some(0));
    let impulses = |path: &str| {
        let output = stiction(&["solve", path, "--json"]);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["r"].clone()
    };
    assert_eq!(impulses(&path), impulses(&copy));
}

#[test]
fn bad_json_gets_a_place_and_a_key() {
    assert!(about("open.json", "{\"kind\": \"lcp\",\n \"M\": [[1").starts_with(":2:9: the file ends early"));
    assert_eq!(
        about("type.json", "{\"M\": [[1, \"x\"]]}"),
        ":1:14: invalid type: string \"x\", expected a number for M[0][1]"
    );
    assert!(about("ragged.json", "{\"M\": [[1, 2], [3]]}").contains("M[1] has 1 numbers, the rows before it have 2"));
    assert!(about("range.json", "{\"M\": [[1e999]]}").contains("number out of range"));
    assert!(about("key.json", "{\"M\": [[1]], \"Q\": [1]}").contains("unknown key \"Q\"; did you mean \"q\"?"));
    assert!(about("short.json", "{\"M\": [[1]], \"q\": [1, 2]}").contains("q: expected 1, found 2"));
    assert!(about("flat.json", "{\"M\": [[1, 2]], \"q\": [1]}").contains("M must be square, found 1 × 2"));
    assert!(about("bounds.json", "{\"M\": [[1]], \"q\": [1], \"lo\": [2], \"hi\": [1]}").contains("is empty"));
    assert!(about("kind.json", "{\"kind\": \"qp\"}").contains("kind: expected lcp, mlcp, box or factored"));
    assert!(about("array.json", "[1, 2]").contains("expected an object"));
}

#[test]
fn a_bad_archive_is_refused() {
    assert!(about("text.npz", "hello").contains("no .npz archive"));
    assert!(about("short.npz", b"PK\x03\x04").contains("no .npz archive"));
}

#[test]
fn a_basis_or_a_kind_that_does_not_fit_is_bad_input() {
    let path = file("fits.json", r#"{"M": [[1]], "q": [1]}"#);
    assert!(refused(&["solve", &path, "--start", "zz"]).contains("has 2 letters, the problem has 1 rows"));
    assert!(refused(&["solve", &path, "--kind", "mlcp"]).contains("a problem of kind lcp, not mlcp"));
}

#[test]
fn standard_input_is_sniffed() {
    for (input, expected) in
        [("{\"M\": 3}", "error: standard input:1:7: invalid type"), ("2 0 x", "error: standard input:1:5: 'x'")]
    {
        let mut child = Command::new(env!("CARGO_BIN_EXE_stiction"))
            .args(["solve", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let message = check_refused(child.wait_with_output().unwrap());
        assert!(message.starts_with(expected), "{message}");
    }
}

/// A reader that leaves early, as in `stiction solve --list | true`.
fn with_closed_output(words: &[&str]) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(words)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), text(&output.stderr))
}

#[test]
fn a_closed_pipe_is_no_failure() {
    assert_eq!(with_closed_output(&["solve", "--list"]), (Some(0), String::new()));
}

/// From here on: what needs solvers.
mod with_solvers {
    use super::*;
    use serde_json::Value;

    fn solved(words: &[&str], code: i32) -> Value {
        let output = stiction(words);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[test]
    fn every_solver_solves_what_it_takes() {
        let m = r#""M": [[2, 1], [1, 2]], "q": [-5, -6]"#;
        let files = [
            ("lcp", file("takes_lcp.json", format!("{{{m}}}"))),
            ("mlcp", file("takes_mlcp.json", format!("{{{m}, \"free\": [true, false]}}"))),
            ("box", file("takes_box.json", format!("{{{m}, \"lo\": [-1, 0], \"hi\": [1, \"inf\"]}}"))),
            ("factored", file("takes_factored.json", r#"{"G": [[1, 0, 1], [0, 1, 1]], "u": [-1, -2]}"#)),
        ];
        for entry in &stiction_lcp::catalog::CATALOG {
            let kinds: Vec<&str> = entry.takes.split([',', ';', ' ']).collect();
            for (kind, path) in &files {
                let words = ["solve", path, "--json", "--solver", entry.name];
                if kinds.contains(&"all") || kinds.contains(kind) {
                    let report = solved(&words, 0);
                    assert_eq!((&report["solver"], &report["outcome"]), (&entry.name.into(), &"solved".into()));
                    assert!(report["residual"].as_f64().unwrap() <= 1e-10);
                } else {
                    assert!(refused(&words).contains("does not take this problem"), "{} {kind}", entry.name);
                }
            }
        }
    }

    #[test]
    fn the_returned_basis_is_a_start_without_pivots() {
        let path = file("restart.dat", "3 0 3 3 3 3  4 1 0 1 3 1 0 1 2  -1 2 -3");
        let basis = solved(&["solve", &path, "--json", "--solver", "lemke"], 0)["basis"].as_str().unwrap().to_string();
        assert_eq!(solved(&["solve", &path, "--json", "--solver", "lemke", "--start", &basis], 0)["pivots"], 0);
    }

    #[test]
    fn a_problem_without_a_solution_exits_with_one() {
        let path = file("none.json", r#"{"M": [[0, -1], [1, 0]], "q": [-1, -1]}"#);
        let report = solved(&["solve", &path, "--json"], 1);
        assert_eq!(report["outcome"], "unsolvable");
        assert!(report["claim"].is_string() && report["z"].is_null());
        let human = stiction(&["solve", &path]);
        assert_eq!(human.status.code(), Some(1));
        assert!(text(&human.stdout).contains("unsolvable: ") && human.stderr.is_empty());
    }

    #[test]
    fn a_mixed_problem_gives_z_in_file_order() {
        // Row 1 is the equation z₁ = 3; the other row is complementary, w₀ = z₀ + z₁ − 5.
        let path = file("order.json", r#"{"M": [[1, 1], [0, 1]], "q": [-5, -3], "free": [false, true]}"#);
        assert_eq!(solved(&["solve", &path, "--json"], 0)["z"], serde_json::json!([2.0, 3.0]));
    }

    #[test]
    fn exact_arithmetic_proves_a_clean_problem() {
        let path = file("exact.dat", "2 0 2 2 2 2  2 1 1 2  -5 -6");
        let report = solved(&["solve", &path, "--json", "--exact"], 0);
        assert!(report["exact"] == true && report["exact_amount"].is_null());
        assert!(solved(&["solve", &path, "--json"], 0)["exact"].is_null());
    }

    #[test]
    fn a_closed_pipe_keeps_the_exit_code_of_the_outcome() {
        let path = file("pipe.dat", "2 0 2 2 2 2  2 1 1 2  -5 -6");
        assert_eq!(with_closed_output(&["solve", &path, "--json"]), (Some(0), String::new()));
        assert_eq!(with_closed_output(&["solve", &path, "--json", "--trace"]).0, Some(0));
    }
}

#[test]
fn subcommands_of_the_python_package_say_where_they_are() {
    for (command, extras) in [("view", "view"), ("render", "render"), ("plot", "plot"), ("compare", "render,plot")] {
        let message = refused(&[command, "scene.toml", "--port", "1"]);
        assert!(message.contains(&format!("pip install \"stiction[{extras}]\"")), "{message}");
    }
}
