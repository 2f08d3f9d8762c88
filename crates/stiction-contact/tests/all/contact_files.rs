//! Contact problems in JSON: every bit comes back, and every error names its key.

use stiction_contact::io::{AnyProblem, Kind, ReadOptions, contact_to_json, read_bytes};
use stiction_contact::scenes::{Recipe, random};
use stiction_contact::{Contact, ContactModel, ContactProblem, CoulombCone, InputError, Mass};
use stiction_lcp::Matrix;

fn parse(text: &str) -> Result<ContactProblem, InputError> {
    match read_bytes("a.json", text.as_bytes(), &ReadOptions::default())? {
        AnyProblem::Contact(problem) => Ok(*problem),
        other => panic!("read as {other:?}"),
    }
}

/// Reads what is written, and compares all of it: the text tells −0 from 0.
fn round_trip(problem: &ContactProblem) {
    let text = contact_to_json(problem);
    let again = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again, *problem);
    assert_eq!(contact_to_json(&again), text);
    assert_eq!(AnyProblem::Contact(Box::new(again)).to_json(), text);
}

/// A problem with a row of every kind, infinities, −0 and numbers at the ends of the range.
fn everything() -> ContactProblem {
    let block = Matrix::from_rows(&[[2.0, 0.1], [0.1, 1.0 / 3.0]]).unwrap();
    let mass = Mass::new(vec![block, Matrix::identity(1), Matrix::zeros(0, 0)]).unwrap();
    let mut problem = ContactProblem::new(mass, vec![-0.0, 5e-324, 1e300], vec![0.1, -1e-310, 0.0], 1e-3).unwrap();
    let (n, s) = ([0.0, 1.0 / 7.0], [1e100, f64::MIN_POSITIVE]);
    let rows: [&[(usize, &[f64])]; 3] = [&[(0, &n), (1, &[-1.0])], &[(0, &s)], &[(0, &[1.0, -0.0])]];
    let contact = Contact {
        spin: rows[2],
        gap: -1e-17,
        size: 0.1,
        mu: f64::INFINITY,
        mu_spin: 0.5,
        mu_viscous: 1e-9,
        rate: [1.0, 2.0, 3.0],
        bounce: 0.25,
        surface: [-0.5, 0.3],
        ..Contact::new(rows[0], rows[1], &[])
    };
    problem.add_contact(contact).unwrap();
    problem.add_bilateral(&[(1, &[2.0])], 0.1, -0.2).unwrap();
    problem.add_limit(&[], 0.3, 0.1, 0.0).unwrap();
    problem.add_bounded(&[(0, &n)], f64::NEG_INFINITY, 1.5, 0.1, 0.7).unwrap();
    problem.add_bounded(&[(0, &n)], -0.0, f64::INFINITY, 0.0, 0.0).unwrap();
    problem
}

#[test]
fn every_bit_comes_back() {
    round_trip(&everything());
    let empty = ContactProblem::new(Mass::new(vec![]).unwrap(), vec![], vec![], 1.0).unwrap();
    round_trip(&empty);
    for seed in 0..60 {
        let recipe = Recipe {
            coulomb: true,
            moments: true,
            viscous: true,
            gaps: true,
            bilaterals: true,
            limits: true,
            bounded: true,
            rates: true,
            ..Recipe::PLAIN
        };
        round_trip(&random(&recipe, seed).unwrap());
    }
}

#[test]
fn an_inertia_given_by_its_factors_comes_back_with_them() {
    let l = Matrix::from_rows(&[[1.1, 0.0], [0.3, 0.7]]).unwrap();
    let problem = |mass| ContactProblem::new(mass, vec![0.0; 2], vec![0.0; 2], 1.0).unwrap();
    let mut by_factors = 0;
    for k in 1..40 {
        let scaled = Matrix::from_fn(2, 2, |i, j| l[(i, j)] * f64::from(k) / 7.0);
        let problem = problem(Mass::from_factors(vec![scaled]).unwrap());
        by_factors += usize::from(contact_to_json(&problem).contains("\"factors\""));
        round_trip(&problem);
    }
    assert!(by_factors > 0, "some factors are not those of their product");
}

#[test]
fn the_documented_example_is_read_and_solved() {
    let text = include_str!("../../../../docs/file-formats.md");
    let example = text.split("```json contact\n").nth(1).unwrap().split("```").next().unwrap();
    let problem = parse(example).unwrap();
    let outcome = CoulombCone::default().solve(&problem).unwrap();
    let motion = &outcome.solved().unwrap().motion;
    assert!((motion[0] - (1.0 - 0.5 * 9.81e-3)).abs() < 1e-14 && (motion[3] - 0.1).abs() < 1e-14, "{motion:?}");
    // What is left out has its usual value.
    let contacts = problem.contacts();
    assert_eq!((contacts.gap[0], contacts.size[0], contacts.mu_spin[0], contacts.bounce[0]), (0.0, 1.0, 0.0, 0.0));
}

#[test]
fn kinds_are_found_and_kept_apart() {
    let text = contact_to_json(&everything());
    let with = |kind: Kind, name: &str| {
        read_bytes(name, text.as_bytes(), &ReadOptions { kind: Some(kind), ..ReadOptions::default() })
    };
    assert!(matches!(with(Kind::Contact, "a.json"), Ok(AnyProblem::Contact(_))));
    assert!(with(Kind::Friction, "a.json").is_err());
    assert_eq!("contact".parse::<Kind>(), Ok(Kind::Contact));
    let plain = |text: &str| read_bytes("a.json", text.as_bytes(), &ReadOptions::default());
    assert!(matches!(plain(r#"{"M": [[1]], "q": [1]}"#), Ok(AnyProblem::Complementarity(_))));
    let text = ReadOptions { kind: Some(Kind::Contact), ..ReadOptions::default() };
    let error = read_bytes("a.dat", b"1\n1\n1", &text).unwrap_err().to_string();
    assert!(error.contains("JSON only"), "{error}");
}

#[test]
fn errors_name_the_key_and_the_row() {
    const HEAD: &str = r#""mass": [[[2]]], "v": [0], "force": [0], "dt": 1"#;
    let message = |text: &str| parse(text).unwrap_err().to_string();
    let with = |rest: &str| message(&format!("{{{HEAD}, {rest}}}"));
    for (found, expected) in [
        (message(r#"{"kind": "contact"}"#), "mass is missing"),
        (message(r#"{"mass": [], "force": [], "dt": 1}"#), "v is missing"),
        (message(r#"{"mass": [], "v": [], "dt": 1}"#), "force is missing"),
        (message(r#"{"mass": [], "v": [], "force": []}"#), "dt is missing"),
        (message(r#"{"mass": [[[1]]], "v": [1, 2], "force": [1], "dt": 1}"#), "v"),
        (message(r#"{"mass": [[[1, 2], [3]]], "v": [], "force": [], "dt": 1}"#), "mass[0][1] has 1 numbers"),
        (message(r#"{"mass": [[[1, "x"]]], "v": [], "force": [], "dt": 1}"#), "mass[0][0][1]"),
        (message(r#"{"mass": [[[-1]]], "v": [0], "force": [0], "dt": 1}"#), "mass block 0"),
        (message(r#"{"mass": [[[1]]], "factors": [[[1]]], "v": [0], "force": [0], "dt": 1}"#), "mass and factors"),
        (message(r#"{"mass": [[[1]]], "v": [0], "force": [0], "dt": 0}"#), "dt"),
        (message(r#"{"kind": "friction", "mass": []}"#), "found \"friction\""),
        (with(r#""dt": 2"#), "dt is given twice"),
        (with(r#""contact": []"#), "did you mean \"contacts\""),
        (with(r#""contacts": [{}]"#), "contacts[0].normal is missing"),
        (with(r#""contacts": [{"normal": [[0, [1]]]}, {"normal": [[0, [null]]]}]"#), "contacts[1].normal[0][1][0]"),
        (with(r#""contacts": [{"normal": [[-1, [1]]]}]"#), "contacts[0].normal[0][0]"),
        (with(r#""contacts": [{"normal": [[0]]}]"#), "contacts[0].normal[0]"),
        (with(r#""contacts": [{"normal": [[0, [1], 2]]}]"#), "contacts[0].normal[0]"),
        (with(r#""contacts": [{"normal": [[3, [1]]]}]"#), "contact 0: normal"),
        (with(r#""contacts": [{"normal": [], "mu": -1}]"#), "contact 0: mu"),
        (with(r#""contacts": [{"normal": [], "gap": "inf"}]"#), "contacts[0].gap"),
        (with(r#""contacts": [{"normal": [], "rate": [1]}]"#), "contacts[0].rate has 1 numbers, expected 3"),
        (with(r#""contacts": [{"normal": [], "surface": [1, 2, 3]}]"#), "contacts[0].surface has 3 numbers"),
        (with(r#""contacts": [{"normal": [], "mue": 1}]"#), "contacts[0]: unknown key \"mue\""),
        (with(r#""bilateral": [{"row": []}, {}]"#), "bilateral[1].row is missing"),
        (with(r#""limits": [{"row": [], "gap": {}}]"#), "limits[0].gap"),
        (with(r#""bounded": [{"row": [], "lo": 2, "hi": 1}]"#), "bounded[0]"),
        (with(r#""bounded": 3"#), "a list of objects for bounded"),
    ] {
        assert!(found.starts_with("a.json") && found.contains(expected), "{found}\nexpected {expected}");
    }
    let place = message("{\n \"mass\": [],\n \"dt\": x}");
    assert!(place.starts_with("a.json:3:"), "{place}");
}

#[test]
fn contacts_seen_ahead_keep_their_flag_and_files_of_before_read_as_ever() {
    let text = |fields: &str| {
        format!(
            "{{\"mass\": [[[1, 0], [0, 1]]], \"v\": [1, -2], \"force\": [0, 0], \"dt\": 0.01, \"contacts\": [\
             {{\"normal\": [[0, [0, 1]]], \"tangent_s\": [[0, [1, 0]]], \"mu\": 0.5, {fields}}}]}}"
        )
    };
    let new = parse(&text("\"gap\": 0.01, \"predicted\": true")).unwrap();
    assert!(new.contacts().predicted[0] && !new.contacts().touches(0) && new.contacts().has_friction(0));
    round_trip(&new);
    let old = parse(&text("\"bounce\": -1")).unwrap();
    assert!(!old.contacts().predicted[0]);
    let mut motions = [&new, &old].map(|p| CoulombCone::default().solve(p).unwrap().solved().unwrap().motion.clone());
    assert_eq!(motions[0], motions[1], "the gap closes, with friction");
    assert!((motions[0][0] - 0.5).abs() < 1e-15 && (motions[0][1] + 1.0).abs() < 1e-15);
    // Without the flag an open gap has no friction; with a bounce the contact closes and parts again.
    motions[0] =
        CoulombCone::default().solve(&parse(&text("\"gap\": 0.01")).unwrap()).unwrap().solved().unwrap().motion.clone();
    assert_eq!(motions[0], [1.0, -1.0]);
    let bounce = parse(&text("\"gap\": 0.01, \"predicted\": true, \"bounce\": 0.75")).unwrap();
    let motion = CoulombCone::default().solve(&bounce).unwrap().solved().unwrap().motion.clone();
    assert!((motion[1] - 0.75).abs() < 1e-15, "{motion:?}");
    let wrong = parse(&text("\"predicted\": 1")).unwrap_err().to_string();
    assert!(wrong.contains("contacts[0].predicted") && wrong.contains("true or false"), "{wrong}");
}
