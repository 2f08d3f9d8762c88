//! Baraff's experiments: the quick forms, the claims that do not depend on the clock, and the pieces they are made of.

use stiction_lcp::dantzig::Dantzig;
use stiction_lcp::{Lcp, Matrix, Options, Solver};
use stiction_papers::baraff::bodies::{self, Dimension, Heap};
use stiction_papers::baraff::elimination::Elimination;
use stiction_papers::baraff::quadratic_program::QuadraticProgram;
use stiction_papers::baraff::{Friction, Frictionless, Mechanisms, experiments, problems};
use stiction_papers::{Cell, Effort, Experiment, Progress, Section, Silent, Verdict};

fn quick(experiment: &dyn Experiment) -> Section {
    experiment.run(&Effort { quick: true }, &mut Silent).unwrap_or_else(|e| panic!("{e}"))
}

/// Asserts that every claim with one of these words holds, and that each word is in one.
fn hold(section: &Section, words: &[&str]) {
    for word in words {
        let claims: Vec<_> = section.claims.iter().filter(|c| c.claim.contains(word)).collect();
        assert!(!claims.is_empty(), "no claim with \"{word}\": {:?}", section.claims);
        for claim in claims {
            assert!(!matches!(claim.verdict, Verdict::DoesNotHold(_)), "{claim:?}");
        }
    }
}

fn families(n: usize, seed: u64) -> Vec<Lcp> {
    let random = [false, true].map(|half| problems::random(n, 2, half, seed).unwrap());
    random.into_iter().chain([problems::chain(n, seed).unwrap(), problems::heap(n, seed).unwrap()]).collect()
}

#[test]
fn elimination_solves_and_needs_its_pivots() {
    let mut elimination = Elimination::default();
    let m = Matrix::from_rows(&[[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, -1.0]]).unwrap();
    let x = [1.0, -2.0, 0.5];
    let mut q = [0.0; 3];
    m.mul_into(&x, &mut q);
    let found = elimination.solve(&m, &q);
    assert!(found.iter().zip(x).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?}");
    for lcp in families(40, 3) {
        let x = elimination.solve(lcp.m(), lcp.q()).to_vec();
        let mut back = vec![0.0; 40];
        lcp.m().mul_into(&x, &mut back);
        let size = x.iter().fold(0.0f64, |a, x| a.max(x.abs())) * lcp.m().max_abs();
        assert!(back.iter().zip(lcp.q()).all(|(a, b)| (a - b).abs() < 1e-12 * size));
    }
    assert!(elimination.solve(&m, &[1.0]).is_empty(), "sizes that do not agree");
    assert!(elimination.solve(&Matrix::zeros(0, 0), &[]).is_empty());
}

#[test]
fn forces_agree_with_the_quadratic_program() {
    for (n, seed) in [(1, 0), (7, 1), (20, 2)] {
        for lcp in families(n, seed) {
            assert!(lcp.m().is_symmetric());
            let outcome = Dantzig::new(Options::default()).solve(&lcp).unwrap();
            let ours = &outcome.solved().expect("positive semidefinite").z;
            let (theirs, _) = QuadraticProgram::new(&lcp).solve().expect("convex");
            // Motion is unique, forces need not be.
            let motion = |f: &[f64]| {
                let mut a = vec![0.0; n];
                lcp.m().mul_into(f, &mut a);
                a
            };
            let size = lcp.q().iter().fold(1.0f64, |a, q| a.max(q.abs()));
            let (a, b) = (motion(ours), motion(&theirs));
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5 * size), "n {n}: {a:?} {b:?}");
        }
    }
}

#[test]
fn the_chain_is_felt_along_all_of_it_and_the_heap_is_not() {
    let zeros = |lcp: &Lcp| lcp.m().as_slice().iter().filter(|a| **a == 0.0).count();
    assert_eq!(zeros(&problems::chain(30, 0).unwrap()), 0);
    assert!(zeros(&problems::heap(60, 0).unwrap()) > 60 * 60 / 2);
}

/// One link alone is a rod of 1 kg and 1 m: its inverse mass is 1 at the middle and 4 at the ends, if pushed across.
#[test]
fn a_chain_of_one_link_is_a_rod() {
    let lcp = problems::chain(1, 5).unwrap();
    let a = lcp.m()[(0, 0)];
    assert!((1.0 - 1e-12..=4.0 + 1e-12).contains(&a), "{a}");
}

#[test]
fn moving_heaps_neither_part_nor_enter() {
    for (dimension, seed) in [Dimension::Two, Dimension::Three].into_iter().flat_map(|d| (0..20).map(move |s| (d, s))) {
        let heap = Heap { dimension, contacts: 1 + seed as usize, mu: [0.1, 0.5], moving: true };
        let problem = bodies::heap(&heap, seed).unwrap();
        let contacts = problem.contacts();
        let speeds: Vec<f64> = (0..contacts.len()).map(|i| contacts.normal.dot(i, problem.v())).collect();
        assert!(speeds.iter().all(|v| v.abs() < 1e-10), "{speeds:?}");
        assert!(problem.v().iter().any(|v| v.abs() > 1e-3), "something moves");
    }
}

#[test]
fn frictionless_claims_that_need_no_clock() {
    let section = quick(&Frictionless);
    hold(&section, &["always ends with a solution", "exponent of pivots"]);
    assert_eq!((section.tables.len(), section.plots.len(), section.claims.len()), (4, 4, 7));
    for table in &section.tables {
        for row in &table.rows {
            let [.., Cell::Number(certificate), Cell::Number(difference)] = row[..] else { panic!("{row:?}") };
            assert!(certificate < 1e-10 && difference < 1e-2, "{}: {row:?}", table.title);
        }
    }
}

#[test]
fn friction_claims() {
    let section = quick(&Friction);
    let words = [
        "never loops",
        "towers whose top is pushed",
        "ends with a solution or with an infinite step",
        "direction of an impulse",
        "exactly when its inverse mass",
        "there are forces again",
        "unrealistically large",
        "same in all directions",
    ];
    hold(&section, &words);
    let table = &section.tables[0];
    let column = |name: &str| table.columns.iter().position(|c| c.name == name).unwrap();
    for row in table.rows.iter() {
        let Cell::Number(worst) = row[column("worst certificate")] else { panic!() };
        assert!(worst <= 1e-10, "{row:?}");
    }
}

#[test]
fn mechanisms_work_and_are_certified() {
    struct Parts(Vec<(usize, usize)>);
    impl Progress for Parts {
        fn report(&mut self, done: usize, total: usize, _: &str) {
            self.0.push((done, total));
        }
    }
    let mut parts = Parts(Vec::new());
    let section = Mechanisms.run(&Effort { quick: true }, &mut parts).unwrap();
    assert_eq!(parts.0, [(0, 4), (1, 4), (2, 4), (3, 4)]);
    hold(&section, &["every step certified", "feeds one block", "rises on both strokes"]);
    assert_eq!((section.pictures.len(), section.plots.len()), (2, 4));
    for picture in &section.pictures {
        let document = roxmltree::Document::parse(&picture.svg).unwrap();
        let count = |name: &str| document.descendants().filter(|n| n.has_tag_name(name)).count();
        assert_eq!(count("text"), 6, "six times");
        assert!(count("polygon") > 60 && count("circle") > 18, "{}", picture.name);
        let [width, height] = {
            let numbers: Vec<f64> =
                document.root_element().attribute("viewBox").unwrap().split(' ').map(|x| x.parse().unwrap()).collect();
            [numbers[2], numbers[3]]
        };
        for polygon in document.descendants().filter(|n| n.has_tag_name("polygon")) {
            for point in polygon.attribute("points").unwrap().split(' ') {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{}: {x} {y}", picture.name);
            }
        }
    }
}

#[test]
fn names_are_those_of_the_paper() {
    let names: Vec<_> = experiments().iter().map(|e| e.name()).collect();
    assert_eq!(names, ["baraff/frictionless", "baraff/friction", "baraff/mechanisms"]);
}

/// A published crate has only the files of its own folder, so these two scenes are there as well.
#[test]
fn the_mechanisms_are_those_of_the_scenes() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/src/baraff/mechanisms");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
    for name in ["block-feeder.toml", "double-action-jack.toml"] {
        let [own, shipped] = [own, shipped].map(|folder| std::fs::read_to_string(format!("{folder}/{name}")).unwrap());
        assert_eq!(own, shipped, "{name}");
    }
}
