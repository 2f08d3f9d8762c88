//! The command with a solver whose outcome the test decides: every outcome, in both forms.

use clap::Parser;
use serde_json::Value;
use stiction_lcp::basis::Position;
use stiction_lcp::finish::Finish;
use stiction_lcp::outcome::{Attempt, Stats};
use stiction_lcp::{Basis, Certificate, MatrixClass, Outcome, ProblemRef, Proof, Ray, StopReason, Stopped, Unsolvable};

use super::*;
use crate::args::{Cli, Command};

/// Solves by trying all bases, or returns the outcome it was made for.
struct StandIn {
    options: Options,
    fixed: Option<Outcome>,
}

impl Solver for StandIn {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn solve_from(&mut self, problem: ProblemRef<'_>, start: Option<&Basis>) -> Result<Outcome, InputError> {
        if let Some(outcome) = &self.fixed {
            return Ok(outcome.clone());
        }
        let n = problem.n();
        let words = (0..3usize.pow(n as u32)).map(|word| {
            let letter = |i: u32| [Position::Lower, Position::Upper, Position::Basic][word / 3usize.pow(i) % 3];
            Basis::new((0..n as u32).map(letter).collect())
        });
        let mut stats = Stats::default();
        for basis in start.cloned().into_iter().chain(words) {
            let outcome = Finish::default().outcome(problem, basis, &self.options, stats.clone());
            if outcome.solved().is_some() {
                return Ok(outcome);
            }
            stats.pivots += 1;
            let line = TraceLine { entering: Some(Variable::Z(0)), leaving: None, measure: 0.5 };
            stats.trace.extend(self.options.trace.then_some(line));
        }
        Err(InputError::Basis("the stand-in found none".into()))
    }
}

/// Runs `stiction solve` with `words` on a file holding `text`; gives the result and both outputs.
fn solve(name: &str, text: &str, words: &[&str], fixed: Option<Outcome>) -> (Result<bool, Failure>, String, String) {
    let folder = std::env::temp_dir().join(format!("stiction-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    let line = ["stiction", "solve", path.to_str().unwrap()].iter().chain(words).copied().collect::<Vec<_>>();
    let Command::Solve(args) = Cli::try_parse_from(&line).unwrap().command else { panic!("not solve: {line:?}") };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let build = |_: &str, options: &Options| {
        Ok(Box::new(StandIn { options: options.clone(), fixed: fixed.clone() }) as Box<dyn Solver>)
    };
    let result = run(&args, &build, &mut out, &mut err);
    (result, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn json(name: &str, text: &str, words: &[&str], fixed: Option<Outcome>) -> (bool, Value) {
    let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
    let (result, out, _) = solve(name, text, &words, fixed);
    assert_eq!(out.matches('\n').count(), 1, "one line: {out}");
    (result.unwrap(), serde_json::from_str(&out).unwrap())
}

const LCP: &str = "2 0 2 2 2 2  2 1 1 2  -5 -6";
const BOX: &str = r#"{"kind": "box", "M": [[1]], "q": [-5], "lo": [0], "hi": [2]}"#;

#[test]
fn a_solution_is_reported_with_its_certificate() {
    let (solved, report) = json("solved.dat", LCP, &[], None);
    assert!(solved);
    assert_eq!(report["problem"]["kind"], "lcp");
    assert_eq!(report["problem"]["n"], 2);
    assert!(report["problem"]["file"].as_str().unwrap().ends_with("solved.dat"));
    assert_eq!((&report["solver"], &report["outcome"]), (&"stand-in".into(), &"solved".into()));
    assert_eq!(report["basis"], "zz");
    let z: Vec<f64> = report["z"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!((z[0] - 4.0 / 3.0).abs() < 1e-15 && (z[1] - 7.0 / 3.0).abs() < 1e-15, "{z:?}");
    assert_eq!(report["w"].as_array().unwrap().len(), 2);
    assert!(report["residual"].as_f64().unwrap() <= 1e-10 && report["backward_error"].as_f64().unwrap() <= 1e-10);
    assert!(report["time_us"].as_f64().unwrap() >= 0.0 && report["pivots"].as_u64().unwrap() > 0);
    for key in ["claim", "why", "exact", "exact_amount", "exact_row", "best_z", "evidence"] {
        assert!(report.get(key).is_some_and(Value::is_null), "{key}");
    }
    assert_eq!(report["attempts"], serde_json::json!([]));
}

#[test]
fn people_get_aligned_lines_and_short_vectors() {
    let (result, out, err) = solve("lines.json", BOX, &[], None);
    assert!(result.unwrap() && err.is_empty());
    let value = |name: &str| {
        let line = out.lines().find(|l| l.starts_with(name)).unwrap_or_else(|| panic!("{name} in {out}"));
        line[16..].to_string()
    };
    assert_eq!(value("problem "), "box, n = 1");
    assert_eq!(value("outcome "), "solved");
    assert_eq!(value("basis "), "u");
    assert!(value("residual").contains("tolerance 1e-10") && !value("backward error").is_empty());
    assert!(out.lines().last().unwrap().split_whitespace().eq(["0", "2.0", "-3.0"]), "{out}");
}

#[test]
fn a_start_basis_comes_from_the_option_or_else_from_the_file() {
    let pivots = |report: Value| report["pivots"].as_u64().unwrap();
    assert_eq!(pivots(json("start.dat", LCP, &["--start", "zz"], None).1), 0);
    assert!(pivots(json("start.dat", LCP, &["--start", "ww"], None).1) > 0);
    let with_basis = BOX.replace("\"q\"", "\"basis\": \"u\", \"q\"");
    assert_eq!(pivots(json("start.json", &with_basis, &[], None).1), 0);
    let message = |word: &str| solve("start.dat", LCP, &["--start", word], None).0.unwrap_err().to_string();
    assert_eq!(message("zzz"), "start basis: has 3 letters, the problem has 2 rows");
    assert_eq!(message("zx"), "start basis: letter 1 is 'x'; only z, w and u have a meaning");
}

#[test]
fn the_trace_goes_before_the_report_or_beside_the_json() {
    let (_, out, err) = solve("trace.dat", LCP, &["--trace"], None);
    assert!(out.starts_with("pivot 1  enters z0      leaves -") && err.is_empty(), "{out}");
    let (_, out, err) = solve("trace.dat", LCP, &["--trace", "--json"], None);
    assert!(err.starts_with("pivot 1") && out.starts_with('{'));
}

fn certificate(residual: f64) -> Certificate {
    Certificate { residual, backward_error: 0.5, rounding_limit: 2e-9, worst_row: Some(1) }
}

#[test]
fn a_stop_gives_its_best_iterate_but_no_z() {
    let why = StopReason::Limit(7);
    let attempts = vec![Attempt { solver: "lemke", ended: "limit".into() }; 2];
    let stats = Stats { attempts, ..Stats::default() };
    // An infinite residual has no number in JSON.
    let stopped = Stopped { why, z: vec![1.0, -0.0], certificate: certificate(f64::INFINITY), stats };
    let outcome = Outcome::Stopped(stopped);
    let (solved, report) = json("stopped.dat", LCP, &[], Some(outcome.clone()));
    assert!(!solved && report["outcome"] == "stopped" && report["why"] == "limit of 7 reached");
    assert!(report["z"].is_null() && report["w"].is_null() && report["basis"].is_null() && report["claim"].is_null());
    assert_eq!(report["best_z"], serde_json::json!([1.0, -0.0]));
    assert!(report["residual"].is_null() && report["backward_error"] == 0.5 && report["worst_row"] == 1);
    assert_eq!(report["rounding_limit"], 2e-9);
    assert_eq!(report["attempts"][0]["solver"], "lemke");
    let (_, out, _) = solve("stopped.dat", LCP, &[], Some(outcome));
    assert!(out.contains("stopped: limit of 7 reached") && out.contains("of the best iterate"), "{out}");
    assert!(out.contains("stand-in: lemke (limit) 2 times") && !out.contains("row  "), "{out}");
}

#[test]
fn what_has_no_solution_says_what_it_claims() {
    let stats = Stats::default;
    let ray = Outcome::Ray(Ray { direction: vec![0.0, 1.0], claim: "nothing by itself".into(), stats: stats() });
    let (solved, report) = json("ray.dat", LCP, &[], Some(ray));
    assert!(!solved && report["outcome"] == "ray" && report["claim"] == "nothing by itself" && report["why"].is_null());
    assert_eq!(report["evidence"], serde_json::json!({"kind": "ray", "direction": [0.0, 1.0], "class": null}));
    for (proof, words) in [
        (Proof::Farkas(vec![1.0, 0.0]), "Farkas"),
        (Proof::Ray { direction: vec![1.0, 0.0], class: MatrixClass::PositiveSemidefinite }, "positive semidefinite"),
        (Proof::Enumeration { bases: 4 }, "none of all 4"),
    ] {
        let outcome = Outcome::Unsolvable(Unsolvable { proof, stats: stats() });
        let (solved, report) = json("unsolvable.dat", LCP, &[], Some(outcome));
        assert!(!solved && report["outcome"] == "unsolvable" && report["residual"].is_null());
        assert!(report["claim"].as_str().unwrap().contains(words) && report["evidence"].is_object());
    }
}

#[test]
fn the_problem_is_written_but_nothing_written_over() {
    let target = std::env::temp_dir().join(format!("stiction-cli-written-{}.json", std::process::id()));
    let _ = std::fs::remove_file(&target);
    let words = ["--write-json", target.to_str().unwrap()];
    assert!(solve("write.dat", LCP, &words, None).0.unwrap());
    let written = std::fs::read_to_string(&target).unwrap();
    let read = files::read_bytes("written.json", written.as_bytes(), &ReadOptions::default()).unwrap();
    let given = files::read_bytes("given.dat", LCP.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(read, given);
    let (refused, out, _) = solve("write.json", BOX, &words, None);
    assert!(refused.unwrap_err().to_string().ends_with("exists already; --force replaces it") && out.is_empty());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), written);
    assert!(solve("write.json", BOX, &[words[0], words[1], "--force"], None).0.unwrap());
    assert!(std::fs::read_to_string(&target).unwrap().contains("\"box\""));
    std::fs::remove_file(&target).unwrap();
}

#[test]
fn an_empty_problem_and_a_large_one_are_reported_too() {
    let (result, out, _) = solve("empty.dat", "0 0 0 0 0 0", &[], None);
    assert!(result.unwrap() && out.contains("n = 0"));
    let n = 21;
    let row = vec!["0"; n].join(",");
    let text = format!(r#"{{"M": [{}], "q": [{row}]}}"#, vec![format!("[{row}]"); n].join(","));
    let (result, out, _) = solve("large.json", &text, &["--start", &"w".repeat(n)], None);
    assert!(result.unwrap() && out.contains("z and w have 21 entries each; --json prints them"), "{out}");
}
