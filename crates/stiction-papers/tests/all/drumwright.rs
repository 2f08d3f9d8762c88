//! The experiments of the no-slip paper: what they claim, but for times.

use stiction_contact::NormalSolver;
use stiction_papers::drumwright::complexity::Complexity;
use stiction_papers::drumwright::grasp::Grasp;
use stiction_papers::drumwright::quadruped::controller::{Gait, Walk};
use stiction_papers::drumwright::quadruped::robot::Quadruped;
use stiction_papers::drumwright::quadruped::run::{Ended, Law, Walked, alone};
use stiction_papers::drumwright::quadruped::terrain::Terrain;
use stiction_papers::{Cell, Effort, Experiment, Section, Series, Silent, Verdict};
use stiction_sim::{Material, Settings, Simulation};

fn run(experiment: &dyn Experiment) -> Section {
    let section = experiment.run(&Effort { quick: true }, &mut Silent).expect("it runs");
    let mut names: Vec<&String> = section.tables.iter().map(|t| &t.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), section.tables.len(), "names of tables differ");
    for table in &section.tables {
        assert!(!table.rows.is_empty(), "{}", table.name);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.name);
    }
    for plot in &section.plots {
        assert!(!plot.series.is_empty() && plot.series.iter().all(|s| !s.points.is_empty()), "{}", plot.name);
        let positive = |s: &Series| s.points.iter().all(|p| p.0 > 0.0 && p.1 > 0.0);
        assert!(!plot.y.log || plot.series.iter().all(positive), "{}", plot.name);
    }
    section
}

/// The claims that contain `words`: there are some, and they hold.
fn holds(section: &Section, words: &str) {
    let mut found = section.claims.iter().filter(|c| c.claim.contains(words)).peekable();
    assert!(found.peek().is_some(), "a claim of {words}");
    for claim in found {
        assert!(!matches!(claim.verdict, Verdict::DoesNotHold(_)), "{}: {} {}", claim.claim, claim.ours, claim.verdict);
    }
}

#[test]
fn grippers_hold_their_cubes() {
    let section = run(&Grasp);
    for words in [
        "No-slip holds the blocks",
        "No-slip holds the cubes",
        "Pivots",
        "a sixth of the variables",
        "positive normals",
    ] {
        holds(&section, words);
    }
}

#[test]
fn complexity_is_measured() {
    let section = run(&Complexity);
    assert_eq!((section.claims.len(), section.plots.len()), (7, 2));
    for row in section.tables.iter().flat_map(|table| &table.rows) {
        let [_, _, Cell::Number(time), Cell::Number(pivots)] = row[..] else { panic!("{row:?}") };
        assert!(time > 0.0 && pivots > 0.0, "solved, and there was something to solve: {row:?}");
    }
}

fn walk(law: Law, terrain: &Terrain, gait: Gait, steps: usize) -> Walked {
    let walked = alone(law, terrain, "", gait, steps).expect("a walk");
    assert_eq!((&walked.measured.ended, walked.measured.steps), (&Ended::No, steps), "{}", terrain.name);
    assert!(walked.is_finite && walked.measured.certificate <= 1e-8);
    walked
}

/// How far it gets is chance (its walk is chaotic); that it stays on its feet and does not slip is not. Where a leg comes close to a
/// singular pose, holding its foot takes forces whose rounding is motion: such a step is refused, and ends the walk.
#[test]
fn the_published_controller_stays_on_its_feet_on_the_published_terrain_without_slip() {
    let law = Law::NoSlip(NormalSolver::ModifiedPpm);
    let mut completed = 0;
    for terrain in [Terrain::published(1), Terrain::published(2), Terrain::level()] {
        let walked = alone(law, &terrain, "", Gait::published(1.0), 10_000).expect("a walk").measured;
        match &walked.ended {
            Ended::No => completed += 1,
            Ended::Failed(why) => assert!(why.contains("times what the data warrant"), "{why}"),
            other => panic!("{}: {other:?}", terrain.name),
        }
        assert!(walked.slip < 1e-9 && walked.certificate <= 1e-10, "{:e} {:e}", walked.slip, walked.certificate);
    }
    assert!(completed >= 2, "{completed}");
}

#[test]
fn the_improved_controller_gets_over_hills_and_steps_without_slip() {
    for terrain in [Terrain::hills(1), Terrain::hills(2), Terrain::steps(0.0), Terrain::steps(0.04)] {
        let walked = walk(Law::NoSlip(NormalSolver::Nnls), &terrain, Gait::improved(), 10_000).measured;
        assert!(walked.distance() >= 0.2, "{}: {}", terrain.name, walked.distance());
        assert!(walked.tilt.iter().all(|t| t.to_degrees() < 30.0), "{}: {:?}", terrain.name, walked.tilt);
        assert!(walked.slip < 1e-9, "{}: {:e}", terrain.name, walked.slip);
    }
}

#[test]
fn the_robot_stays_on_its_feet_with_viscous_friction() {
    let law = Law::Viscous(NormalSolver::ModifiedPpm);
    let walked = walk(law, &Terrain::hills(1), Gait::improved(), 3000).measured;
    assert!(walked.impacts > 0 && walked.certificate <= 1e-10);
    assert!(walked.slip > 1e-3, "nothing holds a foot");
}

#[test]
fn solvers_agree_on_the_motion() {
    let terrain = Terrain::hills(2);
    let end = |law| walk(law, &terrain, Gait::improved(), 300).measured.trace;
    let no_slip = [NormalSolver::ModifiedPpm, NormalSolver::Nnls, NormalSolver::Lemke].map(|s| end(Law::NoSlip(s)));
    let viscous = [NormalSolver::ModifiedPpm, NormalSolver::Lemke].map(|s| end(Law::Viscous(s)));
    for traces in [&no_slip[..], &viscous[..]] {
        for other in &traces[1..] {
            for (a, b) in traces[0].iter().zip(other) {
                assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-9), "{a:?} {b:?}");
            }
        }
    }
    // Infinite friction and a coefficient of a hundred are nearly the same.
    let shell = end(Law::DrumwrightShell(100.0));
    let (a, b) = (no_slip[0].last().unwrap(), shell.last().unwrap());
    assert!((a[2] - b[2]).abs() < 1e-3 && (a[4] - b[4]).abs() < 1e-2, "{a:?} {b:?}");
}

#[test]
fn a_walk_goes_on_from_a_snapshot_bit_for_bit() {
    let robot = Quadruped::new(&Terrain::steps(0.0), Material::default()).unwrap();
    let settings = Settings { model: stiction_contact::ModelKind::NoSlip, ..Settings::default() };
    let simulation = || {
        let mut simulation = Simulation::new(robot.world.clone(), settings.clone()).unwrap();
        simulation.control(Box::new(Walk::new(&robot, Gait::published(1.0))));
        simulation
    };
    let mut first = simulation();
    for _ in 0..300 {
        first.step().unwrap();
    }
    let mut second = simulation();
    second.restore(&first.snapshot()).unwrap();
    for _ in 0..300 {
        first.step().unwrap();
        second.step().unwrap();
    }
    assert_eq!(first.state().hash(), second.state().hash());
}
