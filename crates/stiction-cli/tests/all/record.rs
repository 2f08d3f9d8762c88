//! `run --record`, `replay`, `extract`, `export`, and `solve` of what they leave, from outside.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn stiction(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(words).output().expect("the binary runs")
}

/// A new folder of a test's own.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("record").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn scene(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(format!("{name}.toml")).to_str().unwrap().into()
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().into()
}

/// Runs with an exit code that is checked; standard output and error.
fn run(words: &[&str], code: i32) -> (String, String) {
    let output = stiction(words);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(code), "{words:?}\n{out}\n{err}");
    (out, err)
}

fn json(words: &[&str], code: i32) -> Value {
    let (out, _) = run(words, code);
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn a_robot_file_runs_from_its_keyframes() {
    let folder = folder("robot");
    let (robot, recording, tables) = (path(&folder, "arm 1.xml"), path(&folder, "arm.rec"), path(&folder, "tables"));
    let text = r#"<mujoco model="arm"><option timestep=".004" gravity="0 0 -2"/><worldbody><body>
        <joint name="j" axis="0 1 0"/><geom size=".1" pos="0 0 .3"/></body></worldbody>
        <keyframe><key name="up" qpos=".1"/><key name="side" qpos=".7"/></keyframe></mujoco>"#;
    std::fs::write(&robot, text).unwrap();
    let (_, err) = run(&["run", &robot, "--steps", "3", "--keyframe", "side", "--record", &recording], 0);
    assert!(err.is_empty(), "{err}");
    assert_eq!(run(&["replay", &recording], 0).0, "identical: 3 steps\n");
    let states = |words: &[&str]| {
        run(&[&["run", &robot, "--steps", "1", "--force", "--record", &recording], words].concat(), 0);
        run(&["export", &recording, "--csv", &tables, "--force"], 0);
        std::fs::read_to_string(Path::new(&tables).join("states.csv")).unwrap()
    };
    assert_eq!(states(&["--keyframe", "1"]), states(&["--keyframe", "side"]));
    assert_ne!(states(&[]), states(&["--keyframe", "side"]), "up is the first");
    let (_, err) = run(&["run", &robot, "--keyframe", "sdie"], 2);
    assert!(err.contains("did you mean \"side\""), "{err}");
    let (_, err) = run(&["run", &scene("grasp"), "--keyframe", "side"], 2);
    assert!(err.contains("[[robots]] keyframe"), "{err}");
    std::fs::write(&robot, text.replace("</worldbody>", "</worldbody><extension/>")).unwrap();
    let (_, err) = run(&["run", &robot, "--steps", "1"], 0);
    assert!(err.contains("1 thing is not used as written") && err.contains("stiction check lists all"), "{err}");
}

#[test]
fn a_model_of_gazebo_runs() {
    let folder = folder("gazebo");
    let text = r#"<sdf version="1.9"><model name="ball"><pose>0 0 1 0 0 0</pose><link name="ball"><inertial><mass>2</mass></inertial>
        <collision name="c"><geometry><sphere><radius>.1</radius></sphere></geometry></collision></link></model></sdf>"#;
    for name in ["ball.sdf", "ball.world"] {
        let file = path(&folder, name);
        std::fs::write(&file, text).unwrap();
        assert_eq!(json(&["run", &file, "--steps", "5", "--floor", "--json"], 0)["steps"], 5);
    }
}

#[test]
fn a_run_is_recorded_replayed_extracted_solved_and_exported() {
    let folder = folder("grasp");
    let recording = path(&folder, "grasp.rec");
    let words = ["run", &scene("grasp"), "--set", "n=1", "--steps", "120", "--record", &recording, "--json"];
    assert_eq!(json(&words, 0)["steps"], 120);
    let (out, err) = run(&words, 2);
    assert!(err.is_empty() && out.contains("exists already; --force replaces it"), "{out}");
    run(&[&words[..], &["--force"]].concat(), 0);

    assert_eq!(run(&["replay", &recording], 0).0, "identical: 120 steps\n");
    let report = json(&["replay", &recording, "--json"], 0);
    assert_eq!(
        (&report["identical"], &report["steps"], &report["complete"]),
        (&true.into(), &120.into(), &true.into())
    );

    let problem = path(&folder, "step.json");
    run(&["extract", &recording, "--step", "110", "--out", &problem], 0);
    assert!(run(&["extract", &recording, "--step", "110", "--out", &problem], 2).1.contains("exists already"));
    assert!(run(&["extract", &recording, "--step", "120"], 2).1.contains("the last one in the recording is 119"));
    assert_eq!(run(&["extract", &recording, "--step", "110"], 0).0, std::fs::read_to_string(&problem).unwrap());
    let solved = json(&["solve", &problem, "--json"], 0);
    assert_eq!((&solved["outcome"], &solved["model"]), (&"solved".into(), &"coulomb-cone".into()));
    assert!(solved["certificate"]["worst"].as_f64().unwrap() <= 1e-10);
    // Nothing moves in a grasp that holds, and it carries a weight of 1 kg.
    assert!(numbers(&solved["motion"]).iter().all(|v| v.abs() < 1e-12));
    assert!(run(&["solve", &problem, "--model", "no-slip"], 0).0.contains("no-slip, velocity level"));

    let csv = path(&folder, "csv");
    let npz = path(&folder, "grasp.npz");
    run(&["export", &recording, "--csv", &csv, "--npz", &npz], 0);
    assert!(run(&["export", &recording, "--csv", &csv], 2).1.contains("states.csv: exists already"));
    let states = std::fs::read_to_string(folder.join("csv/states.csv")).unwrap();
    assert!(states.lines().count() == 122 && states.starts_with("step,"), "{}", states.lines().next().unwrap());
    let contacts = std::fs::read_to_string(folder.join("csv/contacts.csv")).unwrap();
    assert!(contacts.lines().next().unwrap().contains("body_b") && contacts.contains(",block1,gripper"), "{contacts}");
    assert!(std::fs::metadata(&npz).unwrap().len() > 1000);
    assert!(run(&["export", &recording], 2).1.contains("--csv"));
}

#[test]
fn recordings_that_are_none_or_not_whole_say_so() {
    let folder = folder("broken");
    let recording = path(&folder, "slide.rec");
    run(&["run", &scene("slide"), "--steps", "150", "--record", &recording, "--record-every", "5"], 0);
    assert_eq!(run(&["replay", &recording], 0).0, "identical: 30 steps\n");
    let bytes = std::fs::read(&recording).unwrap();
    let cut = path(&folder, "cut.rec");
    std::fs::write(&cut, &bytes[..bytes.len() - 100]).unwrap();
    let (out, _) = run(&["replay", &cut], 0);
    assert!(out.starts_with("note: the recording is not whole") && out.ends_with("identical: 20 steps\n"), "{out}");
    assert_eq!(json(&["replay", &cut, "--json"], 0)["complete"], false);
    std::fs::write(&cut, &bytes[..100]).unwrap();
    let none = path(&folder, "none.rec");
    std::fs::write(&none, "title = \"a scene\"").unwrap();
    for command in [&["replay"][..], &["extract", "--step", "1"], &["export", "--npz", "x.npz"]] {
        let message = |file: &str| run(&[command, &[file]].concat(), 2).1;
        assert!(message(&none).contains("none.rec: recording: this is no recording"), "{}", message(&none));
        assert!(message(&cut).contains("cut.rec: recording: "), "{}", message(&cut));
        assert!(message(&path(&folder, "nowhere.rec")).contains("nowhere.rec: No such file"));
    }
    assert!(run(&["run", &scene("slide"), "--record-every", "5"], 2).1.contains("--record"));
    assert!(run(&["run", &scene("slide"), "--record", &recording, "--record-every", "0"], 2).1.contains("0"));
}

/// A slider that is driven into the floor by a motor that knows no limit.
const IMPOSSIBLE: &str = r#"
title = "A motor against the floor"
dt = 0.01
duration = 1
[[bodies]]
name = "floor"
fixed = true
shape = { plane = true }
[[bodies]]
name = "ram"
mass = 1
position = [0, 0, 0.12]
shape = { box = [0.2, 0.2, 0.2] }
joint = { type = "prismatic", axis = [0, 0, 1] }
[[controllers]]
type = "motion"
joint = "ram"
position = [[0, 0], [1, -1]]
"#;

#[test]
fn the_problem_of_a_failed_step_is_saved_and_can_be_solved() {
    let folder = folder("failure");
    let file = path(&folder, "ram.toml");
    std::fs::write(&file, IMPOSSIBLE).unwrap();
    let recording = path(&folder, "ram.rec");
    let (_, err) = run(&["run", &file], 1);
    assert!(err.contains("failed: step 2") && err.contains("try a smaller step"), "{err}");
    let place = err.split("its contact problem is in ").nth(1).and_then(|rest| rest.split("; ").next()).unwrap();
    let temporary = std::fs::read(place).unwrap();
    std::fs::remove_file(place).unwrap();
    let (_, err) = run(&["run", &file, "--record", &recording], 1);
    let saved = path(&folder, "failed-step-2.json");
    assert!(err.contains(&saved), "{err}");
    assert_eq!(std::fs::read(&saved).unwrap(), temporary);
    for model in ["coulomb-cone", "frictionless"] {
        let proven = json(&["solve", &saved, "--json", "--model", model], 1);
        assert_eq!(proven["outcome"], "infeasible");
        assert!(proven["claim"].as_str().unwrap().starts_with("no motion satisfies the rows"));
    }
    let words = ["run", &file, "--json", "--save-failure", &path(&folder, "here.json")];
    let (out, err) = run(&words, 1);
    assert!(err.contains("here.json") && out.contains("\"failed_steps\":[{\"step\":2"), "{err}{out}");
    assert_eq!(std::fs::read(folder.join("here.json")).unwrap(), std::fs::read(&saved).unwrap());
    assert!(run(&words, 1).1.contains("not saved"), "nothing is replaced");
    // The failure is part of the run: a replay ends in the same way, and its problem can be made again.
    assert_eq!(run(&["replay", &recording], 0).0, "identical: 2 steps\n");
    assert_eq!(run(&["extract", &recording, "--step", "2"], 0).0, std::fs::read_to_string(&saved).unwrap());
}

/// A tolerance below rounding makes every step with contacts one that is not certified.
#[test]
fn accepted_steps_are_counted_and_are_no_success() {
    let folder = folder("accepted");
    let text = "dt = 0.01\ntolerance = 1e-20\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = { plane = true }\n\
                [[bodies]]\nname = \"cube\"\nmass = 0.7\nposition = [0, 0, 0.1]\nvelocity = [1, 0.3, 0]\nshape = { box = [0.2, 0.2, 0.2] }\n";
    let file = path(&folder, "slide.toml");
    std::fs::write(&file, text).unwrap();
    let run_with = |more: &[&str], code: i32| {
        json(
            &[
                &["run", &file, "--steps", "10", "--json", "--save-failure", &path(&folder, "failed.json"), "--force"],
                more,
            ]
            .concat(),
            code,
        )
    };
    let accepted = run_with(&["--on-failure", "accept"], 1);
    assert_eq!((&accepted["steps"], &accepted["outcomes"]["accepted"]), (&10.into(), &10.into()));
    assert_eq!(accepted["failed_steps"], serde_json::json!([]));
    assert!(accepted["certificate"]["worst"].as_f64().unwrap() > 1e-20);
    assert!(accepted["step_time"]["worst"].as_f64() >= accepted["step_time"]["median"].as_f64());
    let bounded = run_with(&["--on-failure", "accept", "--accept-bound", "0"], 1);
    assert_eq!((&bounded["steps"], &bounded["outcomes"]["failed"]), (&0.into(), &1.into()));
    let (text, _) = run(&["run", &file, "--steps", "10", "--on-failure", "accept"], 1);
    assert!(text.contains("10 steps accepted without being certified"), "{text}");
}

#[test]
fn a_file_that_has_changed_is_named_and_the_first_difference_found() {
    let folder = folder("changed");
    let cube = |half: f64| -> String {
        // Vertex k has the sign of its bits: x is the highest.
        let sign = |k: usize, bit: usize| if k >> bit & 1 == 1 { half } else { -half };
        let vertices: String = (0..8).map(|k| format!("v {} {} {}\n", sign(k, 2), sign(k, 1), sign(k, 0))).collect();
        format!("{vertices}f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n")
    };
    std::fs::write(folder.join("cube.obj"), cube(0.1)).unwrap();
    let text = "dt = 0.001\nduration = 0.05\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = { plane = true }\n\
                [[bodies]]\nname = \"cube\"\nmass = 1\nposition = [0, 0, 0.1]\nshape = { mesh = \"cube.obj\" }\n";
    let file = path(&folder, "cube.toml");
    std::fs::write(&file, text).unwrap();
    let recording = path(&folder, "cube.rec");
    run(&["run", &file, "--record", &recording], 0);
    assert_eq!(run(&["replay", &recording], 0).0, "identical: 50 steps\n");
    // The scene's own file is in the recording and not looked at again.
    std::fs::remove_file(&file).unwrap();
    run(&["replay", &recording], 0);
    std::fs::write(folder.join("cube.obj"), cube(0.099)).unwrap();
    let (out, _) = run(&["replay", &recording], 1);
    assert!(out.contains("cube.obj has changed") && out.contains("differs: step 0"), "{out}");
    let report = json(&["replay", &recording, "--json"], 1);
    assert_eq!((&report["identical"], &report["difference"]["step"]), (&false.into(), &0.into()));
    assert_ne!(report["difference"]["recorded"], report["difference"]["found"]);
    std::fs::remove_file(folder.join("cube.obj")).unwrap();
    assert!(run(&["replay", &recording], 2).1.contains("cube.obj"));
}

#[test]
fn contact_problems_are_solved_and_printed() {
    let folder = folder("solve");
    let file = path(&folder, "particle.json");
    let text = r#"{"mass": [[[2, 0, 0], [0, 2, 0], [0, 0, 2]]], "v": [1, 0, 0], "force": [0, 0, -20], "dt": 0.01,
        "contacts": [{"normal": [[0, [0, 0, 1]]], "tangent_s": [[0, [1, 0, 0]]], "tangent_t": [[0, [0, 1, 0]]], "mu": 0.5}]}"#;
    std::fs::write(&file, text).unwrap();
    let solved = json(&["solve", &file, "--json"], 0);
    assert_eq!(solved["modes"], serde_json::json!(["slide"]));
    assert!((numbers(&solved["motion"])[0] - 0.95).abs() < 1e-14);
    assert!((numbers(&solved["forces"]["normal"])[0] - 0.2).abs() < 1e-14);
    assert_eq!((&solved["problem"]["kind"], &solved["level"]), (&"contact".into(), &"velocity".into()));
    let (out, _) = run(&["solve", &file], 0);
    assert!(out.contains("1 slide") && out.contains("velocity after the step") && out.contains("0.95"), "{out}");
    assert_eq!(json(&["solve", &file, "--model", "frictionless", "--json"], 0)["motion"][0], 1.0);
    assert_eq!(json(&["solve", &file, "--model", "coulomb-pyramid", "--json"], 0)["level"], "acceleration");
    let copy = path(&folder, "copy.json");
    run(&["solve", &file, "--write-json", &copy], 0);
    assert_eq!(json(&["solve", &copy, "--json"], 0)["motion"], solved["motion"]);
    for flag in [&["--exact"][..], &["--trace"], &["--solver", "lemke"], &["--start", "z"]] {
        let message = run(&[&["solve", &file[..]], flag].concat(), 2).1;
        assert!(message.contains("this is a contact problem") && message.contains(flag[0]), "{message}");
    }
    assert!(run(&["solve", &file, "--kind", "friction"], 2).1.contains("particle.json"));
}

#[test]
fn a_run_whose_bodies_were_taken_apart_is_replayed_from_there() {
    let folder = folder("apart");
    let text = "dt = 0.001\nduration = 0.05\n[[bodies]]\nname = \"floor\"\nfixed = true\nshape = { plane = true }\n\
                [[bodies]]\nname = \"cube\"\nmass = 1\nposition = [0, 0, 0.09]\nshape = { box = [0.2, 0.2, 0.2] }\n";
    let (file, recording) = (path(&folder, "deep.toml"), path(&folder, "deep.rec"));
    std::fs::write(&file, text).unwrap();
    assert!(run(&["run", &file, "--record", &recording], 2).1.contains("--separate"));
    assert!(!Path::new(&recording).exists(), "nothing is left of a run that did not begin");
    run(&["run", &file, "--record", &recording, "--separate"], 0);
    assert_eq!(run(&["replay", &recording], 0).0, "identical: 50 steps\n");
}
