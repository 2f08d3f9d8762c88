//! `stiction paper` from outside.

use std::path::PathBuf;
use std::process::{Command, Output};

fn stiction(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(words).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder of a test's own, which is not there yet.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("paper").join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

#[test]
fn the_list_names_papers_and_experiments() {
    let output = stiction(&["paper", "list"]);
    assert_eq!(output.status.code(), Some(0));
    let list = text(&output.stdout);
    for paper in [
        "drumwright: Drumwright 2015",
        "lloyd: Lloyd 2004",
        "trinkle: Trinkle",
        "baraff: Baraff 1994",
        "  baraff/friction",
    ] {
        assert!(list.contains(paper), "{list}");
    }
    let json: serde_json::Value = serde_json::from_slice(&stiction(&["paper", "list", "--json"]).stdout).unwrap();
    let names: Vec<&str> =
        json["experiments"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"baraff/friction") && names.iter().all(|name| list.contains(name)), "{names:?}");
}

#[test]
fn bad_input_is_one_line_and_runs_nothing() {
    let blocked = folder("blocked");
    std::fs::create_dir_all(blocked.parent().unwrap()).unwrap();
    std::fs::write(&blocked, "a file").unwrap();
    let inside = blocked.join("deeper");
    for (words, part) in [
        (&["paper", "baraf"][..], "'baraff'"),
        (&["paper"], "<WHAT>"),
        (&["paper", "baraff/friction", "--quick", "--out", inside.to_str().unwrap()], "deeper: cannot be written"),
        (&["paper", "baraff/friction", "--quick", "--out", blocked.to_str().unwrap()], "blocked: cannot be written"),
    ] {
        let output = stiction(words);
        let err = text(&output.stderr);
        assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""), "{err}");
        assert!(err.starts_with("error: ") && err.lines().count() == 1 && err.contains(part), "{err}");
    }
    let _ = std::fs::remove_file(&blocked);
}

#[test]
fn an_experiment_leaves_a_report_and_its_claims() {
    let out = folder("run");
    let words = ["paper", "baraff/friction", "--quick", "--out", out.to_str().unwrap()];
    let output = stiction(&words);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    let shown = text(&output.stdout);
    let summary = std::fs::read_to_string(out.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let claims = summary.as_array().unwrap();
    assert!(!claims.is_empty() && claims.iter().all(|c| c["paper"] == "baraff" && c["experiment"] == "friction"));
    for claim in claims {
        assert!(shown.contains(claim["claim"].as_str().unwrap()), "{shown}");
    }
    assert!(shown.contains(&format!("{} claims: ", claims.len())), "{shown}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("id=\"baraff-friction\"") && page.contains("quick form"));
    let object = stiction(&[&words[..], &["--json"]].concat());
    let object: serde_json::Value = serde_json::from_slice(&object.stdout).unwrap();
    assert_eq!(object["claims"].as_array().unwrap().len(), claims.len());
    assert!(object["machine"]["cores"].as_u64().unwrap() >= 1 && object["failures"].as_array().unwrap().is_empty());
}
