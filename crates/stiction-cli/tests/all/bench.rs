//! `stiction bench` from outside.

use std::process::{Command, Output};

fn bench(words: &[&str]) -> Output {
    let scene = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/grasp.toml");
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(["bench", scene]).args(words).output().expect("the binary runs")
}

#[test]
fn costs_of_a_step_are_printed_by_phase() {
    let short = ["--warm-up", "2", "--steps", "3", "--turns", "2"];
    let output = bench(&short);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in ["time per step", "  assembly", "  certificate", "work per step  12.0 contacts"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
    }
    let output = bench(&[&short[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let times = &json["us_per_step"];
    let phases = ["dynamics", "collision", "assembly", "solve", "certificate", "projection"];
    let sum: f64 = phases.iter().map(|phase| times[phase].as_f64().unwrap()).sum();
    let total = times["total"].as_f64().unwrap();
    assert!(0.0 < sum && sum <= total && times["fastest_turn"].as_f64().unwrap() <= total, "{json}");
    assert_eq!((json["nv"].as_u64(), json["per_step"]["contacts"].as_f64()), (Some(14), Some(12.0)));
    assert!(json["certificate"]["worst"].as_f64().unwrap() <= 1e-10 && json["instructions_per_step"].is_null());
}

#[test]
fn instructions_are_counted_where_valgrind_is_and_follow_the_work() {
    let count =
        |n: &str| bench(&["--set", n, "--warm-up", "2", "--steps", "4", "--turns", "1", "--instructions", "--json"]);
    let output = count("n=1");
    if Command::new("valgrind").arg("--version").output().is_err() {
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("--instructions needs valgrind"));
        return;
    }
    let instructions = |output: Output| {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["instructions_per_step"].as_f64().unwrap()
    };
    let (one, four) = (instructions(output), instructions(count("n=4")));
    // Four cubes have five faces that touch, one has two: the rest of a step is the smaller part.
    assert!(1e4 < one && 1.5 * one < four && four < 5.0 * one, "{one}, {four}");
}

#[test]
fn bad_options_of_a_measurement_are_named() {
    for (words, place) in [(&["--set", "nothing=1"][..], "nothing"), (&["--turns", "0"], "turns")] {
        let output = bench(words);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(place));
    }
}
