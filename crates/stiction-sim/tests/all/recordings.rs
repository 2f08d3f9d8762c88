//! Recordings, replays and saved states of the shipped scenes.

use std::path::{Path, PathBuf};

use stiction_contact::ModelOptions;
use stiction_contact::io::{AnyProblem, ReadOptions, contact_to_json, read_bytes};
use stiction_contact::models::catalog;
use stiction_sim::inputs::Layout;
use stiction_sim::mjcf::Start;
use stiction_sim::recording::{Changed, Header, Origin, RecordedStep, export_csv, export_npz, problem_of_step, replay};
use stiction_sim::{Impacts, OnFailure, Recorder, Recording, Scene, Simulation, StepReport};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(format!("{name}.toml"))
}

fn set(parameters: &[(&str, f64)]) -> Vec<(String, f64)> {
    parameters.iter().map(|(name, x)| (name.to_string(), *x)).collect()
}

fn scene(name: &str, parameters: &[(&str, f64)]) -> Scene {
    Scene::load(&file(name), &set(parameters)).unwrap()
}

fn steps(simulation: &mut Simulation, count: u64) {
    for _ in 0..count {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
    }
}

/// A recording of so many steps, in memory.
fn record(name: &str, parameters: &[(&str, f64)], count: u64, every: u64) -> Vec<u8> {
    let scene = scene(name, parameters);
    let mut simulation = scene.simulation().unwrap();
    let header = Header::new(Origin::read(&file(name), &set(parameters)).unwrap(), &scene, every);
    let mut recorder = Recorder::new(Vec::new(), &header, &simulation).unwrap();
    for _ in 0..count {
        let report = simulation.step().unwrap();
        recorder.step(&simulation, &report).unwrap();
    }
    recorder.finish(&simulation, None).unwrap()
}

type Parameters = &'static [(&'static str, f64)];

/// Scenes, their parameters, and steps into them.
const SCENES: [(&str, Parameters, u64); 7] = [
    ("grasp", &[("n", 2.0)], 30),
    ("stack", &[("n", 3.0)], 30),
    ("dominoes", &[], 300),
    ("balls", &[], 150),
    ("bounce", &[], 315),
    ("four-bar", &[], 30),
    ("gripper", &[], 400),
];

#[test]
fn a_state_saved_in_mid_contact_continues_bit_for_bit() {
    for (name, parameters, before) in SCENES {
        let scene = scene(name, parameters);
        let mut simulation = scene.simulation().unwrap();
        steps(&mut simulation, before);
        let saved = simulation.save_state();
        let mut fresh = scene.simulation().unwrap();
        fresh.load_state(&saved).unwrap();
        assert_eq!(fresh.save_state(), saved, "{name}");
        // One that has been elsewhere must forget it.
        let mut used = scene.simulation().unwrap();
        steps(&mut used, 7);
        used.load_state(&saved).unwrap();
        for step in 0..100 {
            let report = simulation.step().unwrap();
            for other in [&mut fresh, &mut used] {
                assert_eq!(other.step().unwrap(), report, "{name}, {step} steps on");
                assert_eq!(other.state().hash(), simulation.state().hash(), "{name}, {step} steps on");
            }
        }
        assert_eq!(fresh.save_state(), simulation.save_state(), "{name}");
    }
}

#[test]
fn no_model_remembers_anything_beside_the_saved_state() {
    for model in ["coulomb-polyhedral", "frictionless", "viscous", "no-slip", "drumwright-shell"] {
        let mut scene = scene("stack", &[("n", 2.0)]);
        scene.settings.model = model.parse().unwrap();
        let mut simulation = scene.simulation().unwrap();
        steps(&mut simulation, 20);
        let mut fresh = scene.simulation().unwrap();
        fresh.load_state(&simulation.save_state()).unwrap();
        steps(&mut simulation, 40);
        steps(&mut fresh, 40);
        assert_eq!(fresh.save_state(), simulation.save_state(), "{model}");
    }
}

#[test]
fn a_saved_state_that_is_broken_or_of_another_world_changes_nothing() {
    let stack = scene("stack", &[("n", 3.0)]);
    let mut simulation = stack.simulation().unwrap();
    steps(&mut simulation, 5);
    let saved = simulation.save_state();
    let mut other = scene("grasp", &[]).simulation().unwrap();
    let before = other.save_state();
    let message = other.load_state(&saved).unwrap_err().to_string();
    assert!(message.starts_with("saved state: "), "{message}");
    for cut in 0..saved.len() {
        assert!(simulation.load_state(&saved[..cut]).is_err(), "{cut} bytes");
    }
    for at in 0..saved.len() {
        let mut garbled = saved.clone();
        garbled[at] ^= 1 << (at % 8);
        assert!(simulation.load_state(&garbled).is_err(), "byte {at}");
    }
    assert_eq!(other.save_state(), before);
    assert_eq!(simulation.save_state(), saved);
}

#[test]
fn a_replay_is_identical() {
    for (name, parameters, every) in [
        ("grasp", &[("n", 1.0)][..], 1),
        ("stack", &[("n", 3.0)], 1),
        ("four-bar", &[], 1),
        ("bounce", &[("height", 0.05)], 1),
        ("gripper", &[], 7),
    ] {
        let recording = Recording::parse(record(name, parameters, 230, every)).unwrap();
        assert_eq!(recording.damage(), None);
        assert_eq!(recording.end().unwrap().steps, 230);
        assert_eq!(recording.step_count() as u64, 230 / every, "{name}");
        assert_eq!(recording.steps().count(), recording.step_count());
        let (scene, notes) = recording.header().scene().unwrap();
        assert_eq!(notes, [""; 0]);
        let result = replay(&recording, &mut scene.simulation().unwrap(), |_| {}).unwrap();
        assert_eq!((result.steps, result.difference), (230 / every, None), "{name}");
    }
}

#[test]
fn a_recording_may_begin_anywhere() {
    let scene = scene("stack", &[("n", 2.0)]);
    let header = Header::new(Origin::read(&file("stack"), &set(&[("n", 2.0)])).unwrap(), &scene, 1);
    let mut later = scene.simulation().unwrap();
    steps(&mut later, 30);
    let mut moved = scene.simulation().unwrap();
    let (mut q, v) = (moved.state().q.clone(), moved.state().v.clone());
    q[2] += 1e-3;
    moved.set_state(&q, &v).unwrap();
    for mut simulation in [later, moved] {
        let mut recorder = Recorder::new(Vec::new(), &header, &simulation).unwrap();
        for _ in 0..120 {
            let report = simulation.step().unwrap();
            recorder.step(&simulation, &report).unwrap();
        }
        let recording = Recording::parse(recorder.finish(&simulation, None).unwrap()).unwrap();
        assert!(!recording.header().from_start);
        let result = replay(&recording, &mut scene.simulation().unwrap(), |_| {}).unwrap();
        assert_eq!((result.steps, result.difference), (120, None));
    }
}

#[test]
fn what_is_recorded_is_what_was_simulated() {
    let recording = Recording::parse(record("four-bar", &[], 120, 1)).unwrap();
    let mut simulation = scene("four-bar", &[]).simulation().unwrap();
    for recorded in recording.steps() {
        let report = simulation.step().unwrap();
        assert_eq!(recorded, RecordedStep::of(&simulation, &report));
        assert_eq!(recorded.number() + 1, simulation.state().step);
        assert_eq!(recorded.impulses.bilateral.len(), simulation.problem().bilaterals().rows.len());
        assert_eq!(simulation.problem().dt(), 1e-3, "the step's problem, not that of a projection after it");
    }
}

#[test]
fn a_replay_of_another_scene_names_the_first_difference() {
    let bytes = record("stack", &[("n", 3.0)], 130, 1);
    let recording = Recording::parse(bytes).unwrap();
    // Friction that is another one bit changes impulses or what follows from them; gravity changes the first step.
    let mut origin = recording.header().origin.clone();
    origin.text = format!("gravity = [0, 0, -9.82]\n{}", origin.text.replace("gravity", "# gravity"));
    let mut simulation = origin.scene().unwrap().simulation().unwrap();
    let difference = replay(&recording, &mut simulation, |_| {}).unwrap().difference.unwrap();
    assert_eq!(difference.step, Some(0), "{difference:?}");
    assert!(difference.what.contains("contact 0") || difference.what.contains("v["), "{difference:?}");
    assert_ne!(difference.recorded, difference.found);
    // Another start is found before the first step.
    let mut simulation = recording.header().scene().unwrap().0.simulation().unwrap();
    let (mut q, v) = (simulation.state().q.clone(), simulation.state().v.clone());
    q[2] += 1e-9;
    simulation.set_state(&q, &v).unwrap();
    let difference = replay(&recording, &mut simulation, |_| {}).unwrap().difference.unwrap();
    assert_eq!(difference.step, None);
    assert!(difference.what.starts_with("q[2] ("), "{difference:?}");
}

#[test]
fn the_problem_of_a_step_solves_to_its_motion() {
    for (name, parameters, ks) in [
        ("stack", &[("n", 3.0)][..], [0, 99, 100, 129]),
        ("gripper", &[], [3, 101, 77, 128]),
        ("four-bar", &[], [0, 55, 101, 129]),
    ] {
        let recording = Recording::parse(record(name, parameters, 130, 1)).unwrap();
        let steps: Vec<RecordedStep> = recording.steps().collect();
        let (scene, _) = recording.header().scene().unwrap();
        let mut simulation = scene.simulation().unwrap();
        for k in ks {
            let problem = problem_of_step(&recording, &mut simulation, k).unwrap();
            let json = contact_to_json(&problem);
            let AnyProblem::Contact(read) = read_bytes("a.json", json.as_bytes(), &ReadOptions::default()).unwrap()
            else {
                panic!("no contact problem")
            };
            assert_eq!(*read, problem);
            let mut model = catalog::build(scene.settings.model, &ModelOptions::default()).unwrap();
            let outcome = model.solve(&read).unwrap();
            let motion = &outcome.solved().unwrap_or_else(|| panic!("{name} {k}: {}", outcome.name())).motion;
            let recorded = &steps[k as usize].state;
            assert_eq!(recorded.step, k + 1);
            let size = recorded.v.iter().fold(problem.dt() * 9.81, |max: f64, v| max.max(v.abs()));
            for (a, b) in motion.iter().zip(&recorded.v) {
                assert!((a - b).abs() <= 1e-9 * size, "{name}, step {k}: {a} and {b}");
            }
        }
        let error = problem_of_step(&recording, &mut simulation, 130).unwrap_err().to_string();
        assert!(error.contains("step 130: the last one in the recording is 129"), "{error}");
    }
}

#[test]
fn a_recording_that_is_cut_off_is_read_up_to_its_last_whole_chunk() {
    let bytes = record("grasp", &[("n", 1.0)], 250, 1);
    let whole = Recording::parse(bytes.clone()).unwrap();
    let (mut shorter, mut refused) = (0, 0);
    for cut in (0..bytes.len()).step_by(7) {
        match Recording::parse(bytes[..cut].to_vec()) {
            Ok(recording) => {
                shorter += 1;
                assert!(recording.damage().unwrap().contains("breaks off"), "{cut}");
                assert!(recording.end().is_none());
                let steps: Vec<RecordedStep> = recording.steps().collect();
                assert!(steps.iter().eq(whole.steps().collect::<Vec<_>>().iter().take(steps.len())), "{cut}");
                assert!([100, 200, 250].contains(&steps.len()), "{}", steps.len());
            }
            Err(e) => {
                refused += 1;
                assert!(e.to_string().starts_with("recording: "), "{e}");
            }
        }
    }
    assert!(shorter > 10 && refused > 10, "{shorter} shorter, {refused} refused");
}

/// A small generator of garbage: the tests need no other.
struct Garbage(u64);

impl Garbage {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

#[test]
fn garbled_recordings_are_errors_or_shorter() {
    let bytes = record("grasp", &[("n", 1.0)], 120, 3);
    let whole = Recording::parse(bytes.clone()).unwrap().step_count();
    let mut random = Garbage(1);
    let (mut shorter, mut refused) = (0, 0);
    for _ in 0..4000 {
        let mut garbled = bytes.clone();
        let at = random.below(garbled.len());
        match random.below(4) {
            0 => garbled[at] ^= 1 << random.below(8),
            1 => garbled.truncate(at),
            2 => drop(garbled.drain(at..(at + 1 + random.below(40)).min(bytes.len()))),
            _ => garbled.insert(at, random.below(256) as u8),
        }
        match Recording::parse(garbled) {
            Ok(recording) => {
                assert!(recording.damage().is_some() && recording.step_count() <= whole);
                shorter += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(shorter > 100 && refused > 100, "{shorter} shorter, {refused} refused");
}

#[test]
fn exports_have_a_line_per_step_and_forces_that_carry_the_weight() {
    let recording = Recording::parse(record("stack", &[("n", 3.0)], 60, 1)).unwrap();
    let world = scene("stack", &[("n", 3.0)]).world;
    let rows = recording.rows(&world, |_| {}).unwrap();
    let (mut states, mut contacts) = (Vec::new(), Vec::new());
    export_csv(&recording, &rows, &mut states, &mut contacts).unwrap();
    let (states, contacts) = (String::from_utf8(states).unwrap(), String::from_utf8(contacts).unwrap());
    let lines: Vec<&str> = states.lines().collect();
    assert_eq!(lines.len(), 62, "names, the start, 60 steps");
    let header = recording.header();
    let columns: Vec<&str> = lines[0].split(',').collect();
    let (nq, nv, bodies) = (header.q.len(), header.v.len(), header.links.len());
    assert_eq!(columns.len(), 11 + nq + nv + 7 * bodies);
    assert!(columns.iter().all(|c| c.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')), "{}", lines[0]);
    assert!(lines[1].starts_with("-1,0.0,") && lines[2].starts_with("0,0.00"), "{}", lines[1]);
    let last: Vec<f64> = lines[61].split(',').map(|x| x.parse().unwrap()).collect();
    let step = recording.steps().last().unwrap();
    assert_eq!(last[11..11 + nq + nv], [step.state.q.clone(), step.state.v.clone()].concat());
    // All bodies of a stack are free: q is their poses.
    let positions = &last[11 + nq + nv..][..3 * bodies];
    let orientations = &last[11 + nq + nv + 3 * bodies..];
    for (i, q) in step.state.q.chunks_exact(7).enumerate() {
        assert_eq!((&q[..3], &q[3..]), (&positions[3 * i..][..3], &orientations[4 * i..][..4]));
    }
    // The floor carries all of the stack in its last step: forces on body_b, upwards.
    let table: Vec<Vec<&str>> = contacts.lines().map(|l| l.split(',').collect()).collect();
    assert!(table.iter().all(|row| row.len() == table[0].len()));
    let column = |name: &str| table[0].iter().position(|c| *c == name).unwrap();
    let mass: f64 = world.model.links().iter().map(|l| l.spec.inertia.mass).sum();
    for name in ["normal_force", "force_z"] {
        let floor = table.iter().filter(|r| r[0] == "59" && r[column("body_a")] == "world");
        let weight: f64 = floor.map(|r| r[column(name)].parse::<f64>().unwrap()).sum();
        assert!((weight - 9.81 * mass).abs() < 1e-6 * weight, "{weight} N for {mass} kg");
    }
    let mut npz = std::io::Cursor::new(Vec::new());
    export_npz(&recording, &rows, &mut npz).unwrap();
    let known = [
        "step",
        "t",
        "q",
        "v",
        "positions",
        "orientations",
        "kinetic",
        "potential",
        "certificate",
        "accepted",
        "pivots",
        "factorizations",
        "contacts",
        "normal_force",
        "slip",
        "contact_step",
        "contact_body_a",
        "contact_body_b",
        "contact_geom_a",
        "contact_geom_b",
        "contact_feature",
        "contact_point",
        "contact_frame",
        "contact_gap",
        "contact_mode",
        "contact_normal_force",
        "contact_friction_force",
        "contact_spin_moment",
        "contact_rolling_moment",
        "contact_force",
        "bodies",
        "q_names",
        "v_names",
        "dt",
    ];
    let mut names = stiction_lcp::io::npz::names(npz.get_ref()).unwrap();
    names.sort();
    let mut known = known.map(str::to_string);
    known.sort();
    assert_eq!(names, known);
}

#[test]
fn factorizations_are_recorded() {
    let recording = Recording::parse(record("dominoes", &[], 100, 1)).unwrap();
    let kept: Vec<_> = recording.steps().map(|step| (step.factorizations, step.most_factorizations)).collect();
    let mut simulation = scene("dominoes", &[]).simulation().unwrap();
    let counts = |report: StepReport| (report.factorizations as u64, report.most_factorizations as u64);
    let made: Vec<_> = (0..100).map(|_| counts(simulation.step().unwrap())).collect();
    assert!(made.iter().any(|n| n.0 > 0));
    assert_eq!(kept, made);
}

#[test]
fn recordings_of_version_5_are_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-5.rec");
    let recording = Recording::load(&file).unwrap();
    assert_eq!((recording.damage(), recording.step_count()), (None, 20));
    assert!(recording.steps().all(|step| step.certificate.largest() <= 1e-10));
    let (scene, notes) = recording.header().scene().unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    // A gripper with servos: its saved state is of the version before activations.
    replay(&recording, &mut scene.simulation().unwrap(), |_| {}).unwrap();
}

#[test]
fn recordings_of_version_4_are_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-4.rec");
    let recording = Recording::load(&file).unwrap();
    assert_eq!((recording.damage(), recording.step_count()), (None, 20));
    assert!(recording.steps().all(|step| step.impulses.roll_s == [0.0] && step.certificate.largest() <= 1e-10));
    assert!(recording.steps().any(|step| step.impulses.spin[0] != 0.0));
    // The world is what it was: a surface without rolling friction has the same fingerprint.
    let (scene, notes) = recording.header().scene().unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    // Another solver may come to other last digits.
    replay(&recording, &mut scene.simulation().unwrap(), |_| {}).unwrap();
}

#[test]
fn recordings_of_version_4_with_an_accepted_step_are_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-4-accept.rec");
    let recording = Recording::load(&file).unwrap();
    assert_eq!((recording.damage(), recording.step_count()), (None, 20));
    assert_eq!(recording.header().settings.on_failure, OnFailure::Accept);
    assert!(recording.steps().all(|step| step.certificate.largest() <= 1e-10 && step.contacts.len() == 4));
    assert!(recording.steps().all(|step| (step.factorizations, step.most_factorizations) == (0, 0)));
    let (scene, _) = recording.header().scene().unwrap();
    replay(&recording, &mut scene.simulation().unwrap(), |_| {}).unwrap();
}

#[test]
fn recordings_of_version_3_are_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-3.rec");
    let recording = Recording::load(&file).unwrap();
    assert_eq!((recording.damage(), recording.step_count()), (None, 20));
    let settings = &recording.header().settings;
    assert_eq!((settings.on_failure, settings.impacts), (OnFailure::Fallback, Impacts::Sequential));
    assert_eq!(settings.accept_bound, 1e-6);
    assert!(recording.steps().all(|step| !step.accepted && step.certificate.largest() <= 1e-10));
    // Another solver may choose other forces of a redundant support; the motion is the same.
    let (scene, _) = recording.header().scene().unwrap();
    replay(&recording, &mut scene.simulation().unwrap(), |_| {}).unwrap();
}

#[test]
fn recordings_of_version_2_are_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-2.rec");
    let recording = Recording::load(&file).unwrap();
    assert_eq!(recording.damage(), None);
    assert_eq!(recording.step_count(), 20);
    assert_eq!(recording.header().settings.impacts, Impacts::Simultaneous);
    assert!(recording.steps().all(|step| step.restitution_scale == 1.0 && step.certificate.largest() <= 1e-10));
    let states: Vec<_> = recording.steps().map(|step| step.state.q[2]).collect();
    assert!(states[0] > 0.14 && states[19] < 0.12, "{states:?}");
}

/// A scene with a motor, a body that is moved from outside, and contact: what a program does to it between steps is replayed bit by bit.
#[test]
fn what_a_program_changes_between_steps_is_replayed() {
    let folder = std::env::temp_dir().join(format!("stiction-changes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let robot = folder.join("hand.xml");
    std::fs::write(
        &robot,
        r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body name="palm" mocap="true" pos="0 0 .5"><geom type="box" size=".1 .1 .02"/></body>
        <body name="finger" pos=".5 0 .2"><joint name="j" axis="0 1 0" damping=".1"/><geom size=".05" pos="0 0 -.1"/></body>
        <body name="ball" pos="0 0 .1"><freejoint/><geom size=".1"/></body>
        </worldbody><actuator><motor joint="j" ctrlrange="-1 1"/></actuator></mujoco>"#,
    )
    .unwrap();
    let origin = Origin::of_robot(&robot, &Start::Home, false).unwrap();
    let scene = origin.scene().unwrap();
    let layout = Layout::new(&scene);
    for every in [1, 7] {
        let mut simulation = layout.simulation(&scene).unwrap();
        let header = Header { inputs: true, ..Header::new(origin.clone(), &scene, every) };
        let mut recorder = Recorder::new(Vec::new(), &header, &simulation).unwrap();
        let mut inputs = layout.at_start();
        for k in 0..230_u32 {
            let phase = f64::from(k) * 0.01;
            inputs[0] = phase.sin();
            inputs[layout.range(1).start + 2] = phase.cos();
            simulation.set_controller_memory(layout.controller(&scene), &inputs).unwrap();
            let (s, c) = (phase.sin(), phase.cos());
            simulation.set_mocap_poses(&[0.1 * s, 0.0, 0.5 - 0.3 * phase, c, 0.0, s, 0.0]).unwrap();
            if k == 60 {
                let mut physical = simulation.physical();
                physical[0] = 3.0;
                simulation.set_physical(&physical).unwrap();
            }
            if k == 120 {
                let (q, mut v) = (simulation.state().q.clone(), simulation.state().v.clone());
                v[0] += 0.5;
                simulation.set_state(&q, &v).unwrap();
            }
            recorder.before_step(&simulation).unwrap();
            let report = simulation.step().unwrap_or_else(|e| panic!("{e}"));
            recorder.step(&simulation, &report).unwrap();
        }
        let recording = Recording::parse(recorder.finish(&simulation, None).unwrap()).unwrap();
        assert!(recording.header().inputs && !recording.header().from_start);
        let kinds: Vec<_> = (0..recording.chunks())
            .flat_map(|i| recording.chunk(i).unwrap().changes)
            .map(|change| match change.what {
                Changed::Controllers(_) => 0,
                Changed::Mocap(_) => 1,
                Changed::Physical(_) => 2,
                Changed::Snapshot(_) => 3,
                Changed::Equalities(_) => 4,
            })
            .collect();
        let count = |kind: i32| kinds.iter().filter(|k| **k == kind).count();
        // A snapshot has the poses of mocap bodies, too.
        assert_eq!([count(0), count(1), count(2), count(3)], [229, 228, 1, 1]);
        let (scene, notes) = recording.header().scene().unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        let mut again = recording.header().simulation(&scene).unwrap();
        let found = replay(&recording, &mut again, |_| {}).unwrap();
        assert_eq!((found.difference, found.steps), (None, 230 / every));
        assert_eq!(again.state().hash(), simulation.state().hash());
        let problem = problem_of_step(&recording, &mut again, 150).unwrap();
        assert!(!problem.contacts().gap.is_empty());
        // A simulation without inputs does not fit it.
        assert!(replay(&recording, &mut scene.simulation().unwrap(), |_| {}).is_err());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_recording_does_not_go_back() {
    let scene = scene("stack", &[("n", 2.0)]);
    let layout = Layout::new(&scene);
    let mut simulation = layout.simulation(&scene).unwrap();
    let start = simulation.snapshot();
    let origin = Origin::read(&file("stack"), &set(&[("n", 2.0)])).unwrap();
    let header = Header { inputs: true, ..Header::new(origin, &scene, 1) };
    let mut recorder = Recorder::new(Vec::new(), &header, &simulation).unwrap();
    recorder.before_step(&simulation).unwrap();
    let report = simulation.step().unwrap();
    recorder.step(&simulation, &report).unwrap();
    simulation.restore(&start).unwrap();
    let error = recorder.before_step(&simulation).unwrap_err().to_string();
    assert!(error.contains("its number of steps went from 1 to 0"), "{error}");
}

/// One body rests on its limit, another comes to its own: what is remembered of the first stays, in saved states too.
#[test]
fn a_limit_that_comes_leaves_what_is_remembered_of_others() {
    let text = r#"
        gravity = [0, 0, -9.81]
        [[bodies]]
        name = "resting"
        mass = 1.0
        shape = { box = [0.1, 0.1, 0.1] }
        position = [0.0, 1.0, 0.0]
        joint = { type = "prismatic", axis = [0, 0, 1], limits = [0, 1] }
        [[bodies]]
        name = "moving"
        mass = 1.0
        shape = { box = [0.1, 0.1, 0.1] }
        position = [0.0, -1.0, 0.0]
        joint = { type = "prismatic", axis = [1, 0, 0], limits = [-0.05, 0.05] }
    "#;
    let scene = Scene::parse(text, Path::new("."), &[]).unwrap();
    let mut simulation = scene.simulation().unwrap();
    simulation.set_state(&[0.0, 0.0], &[0.0, 1.0]).unwrap();
    let (mut rows, mut fresh) = (vec![], scene.simulation().unwrap());
    // It goes on at 1 m/s until it is there.
    while simulation.state().v[1] == 1.0 {
        let step = rows.len();
        fresh.load_state(&simulation.save_state()).unwrap();
        let report = simulation.step().unwrap();
        assert_eq!((fresh.step().unwrap(), fresh.save_state()), (report, simulation.save_state()), "step {step}");
        rows.push(simulation.problem().limits().rows.len());
        assert!(report.guessed || step == 0 || simulation.state().v[1] != 1.0, "step {step}: {rows:?}");
    }
    assert_eq!((rows.first(), rows.last()), (Some(&1), Some(&2)));
}
