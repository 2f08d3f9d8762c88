//! Friction problems in FCLIB's HDF5: every form of file, and what is said of bad ones.

use crate::hdf5_writer::{FORMS, Form, Node, Storage, write};
use stiction_contact::io::{AnyProblem, FrictionFile, ReadOptions, read_bytes};
use stiction_contact::{FrictionProblem, GlobalFrictionProblem, InputError, SparseMatrix};

fn parse(name: &str, bytes: &[u8]) -> Result<AnyProblem, InputError> {
    read_bytes(name, bytes, &ReadOptions::default())
}

fn message(name: &str, bytes: &[u8]) -> String {
    parse(name, bytes).expect_err("this file is bad").to_string()
}

fn sparse(rows: usize, cols: usize, entries: &[(usize, usize, f64)]) -> SparseMatrix {
    SparseMatrix::from_entries(rows, cols, entries.iter().copied()).unwrap()
}

/// One contact in space, its W not symmetric.
fn one() -> FrictionFile {
    let w = sparse(3, 3, &[(0, 0, 1.0), (1, 0, 2.0), (1, 1, 4.0), (2, 2, -0.5)]);
    FrictionProblem::new(3, w, vec![-1.0, 2.0, 3.0], vec![0.7]).unwrap().into()
}

/// Two contacts in the plane on three velocities.
fn two_global() -> FrictionFile {
    let mass = sparse(3, 3, &[(0, 0, 1.0), (1, 1, 2.0), (2, 2, 3.0)]);
    let h = sparse(3, 4, &[(0, 0, 1.0), (2, 1, 3.0), (1, 3, -2.0)]);
    let (f, b) = (vec![1.0, 2.0, 3.0], vec![-1.0, 0.0, 0.25, 1e-300]);
    GlobalFrictionProblem::new(2, mass, h, f, b, vec![0.5, f64::INFINITY]).unwrap().into()
}

/// The members of the group at `path`.
fn members<'a>(root: &'a mut Node, path: &[&str]) -> &'a mut Vec<(&'static str, Node)> {
    let group = path.iter().fold(root, |node, name| {
        let Node::Group(members) = node else { panic!("a group") };
        &mut members.iter_mut().find(|m| m.0 == *name).unwrap_or_else(|| panic!("{name}")).1
    });
    let Node::Group(members) = group else { panic!("a group") };
    members
}

fn number(x: i32) -> Node {
    Node::Integers(vec![x])
}

fn matrix(size: [i32; 2], nz: i32, p: &[i32], i: &[i32], x: &[f64]) -> Node {
    Node::Group(vec![
        ("nzmax", number(x.len() as i32)),
        ("m", number(size[0])),
        ("n", number(size[1])),
        ("nz", number(nz)),
        ("p", Node::Integers(p.to_vec())),
        ("i", Node::Integers(i.to_vec())),
        ("x", Node::Floats(x.to_vec())),
    ])
}

fn local() -> Node {
    let w = matrix([3, 3], 5, &[0, 0, 1, 2, 0], &[0, 1, 1, 2, 0], &[0.5, 2.0, 4.0, -0.5, 0.5]);
    let vectors = vec![("q", Node::Floats(vec![-1.0, 2.0, 3.0])), ("mu", Node::Floats(vec![0.7]))];
    let group = vec![("spacedim", number(3)), ("W", w), ("vectors", Node::Group(vectors))];
    Node::Group(vec![("fclib_local", Node::Group(group))])
}

fn global() -> Node {
    let vectors = vec![
        ("f", Node::Floats(vec![1.0, 2.0, 3.0])),
        ("w", Node::Floats(vec![-1.0, 0.0, 0.25, 1e-300])),
        ("mu", Node::Floats(vec![0.5, f64::INFINITY])),
    ];
    let group = vec![
        ("spacedim", number(2)),
        ("M", matrix([3, 3], -1, &[0, 1, 2, 3], &[0, 1, 2], &[1.0, 2.0, 3.0])),
        ("H", matrix([3, 4], -2, &[0, 1, 2, 3], &[0, 3, 1], &[1.0, -2.0, 3.0])),
        ("vectors", Node::Group(vectors)),
    ];
    Node::Group(vec![("solution", Node::Group(vec![])), ("fclib_global", Node::Group(group))])
}

#[test]
fn every_form_of_file_gives_the_same_problem() {
    for form in FORMS {
        for name in ["a.hdf5", "a.dat"] {
            assert_eq!(parse(name, &write(&local(), form)), Ok(AnyProblem::Friction(one())), "{form:?}");
            assert_eq!(parse(name, &write(&global(), form)), Ok(AnyProblem::Friction(two_global())), "{form:?}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_is_refused_at_every_length() {
    for form in FORMS {
        let bytes = write(&local(), form);
        for end in 0..bytes.len() {
            let found = message("a.hdf5", &bytes[..end]);
            assert!(found.starts_with("a.hdf5"), "{end}: {found}");
        }
        let (whole, short) = (bytes.len(), bytes.len() - 1);
        let expected = format!("a.hdf5: byte {short}: the file is cut off: it should have {whole} bytes");
        assert_eq!(message("a.hdf5", &bytes[..short]), expected);
    }
}

#[test]
fn what_is_wrong_is_named() {
    let changed = |path: &[&str], to: Node| {
        let mut root = local();
        let (name, group) = path.split_last().expect("a path");
        members(&mut root, group).iter_mut().filter(|m| m.0 == *name).for_each(|m| m.1 = to.clone());
        root
    };
    let without = |path: &[&str], name: &str| {
        let mut root = local();
        members(&mut root, path).retain(|m| m.0 != name);
        root
    };
    let rolling = |name| Node::Group(vec![(name, Node::Group(vec![]))]);
    let mut with_equations = local();
    members(&mut with_equations, &["fclib_local"]).push(("V", Node::Group(vec![])));
    for (root, expected) in [
        (Node::Group(vec![]), "a.hdf5: this HDF5 file has neither /fclib_local nor /fclib_global"),
        (rolling("fclib_global_rolling"), "this is a global rolling friction-contact problem of FCLIB"),
        (with_equations, "a friction-contact problem with equations (/fclib_local/V), which is not supported yet"),
        (without(&["fclib_local", "W"], "x"), "/fclib_local/W/x is missing"),
        (without(&["fclib_local", "vectors"], "mu"), "/fclib_local/vectors/mu is missing"),
        (
            changed(&["fclib_local", "spacedim"], number(5)),
            "a rolling friction-contact problem of FCLIB (spacedim is 5)",
        ),
        (changed(&["fclib_local", "spacedim"], number(4)), "a contact has 2 or 3 rows, found 4"),
        (changed(&["fclib_local", "spacedim"], number(2)), "rows of W: expected 2, found 3"),
        (changed(&["fclib_local", "spacedim"], Node::Floats(vec![3.0])), "expected whole numbers"),
        (changed(&["fclib_local", "W", "m"], number(-3)), "/fclib_local/W/m: -3 is no size"),
        (
            changed(&["fclib_local", "W", "n"], number(2_000_000_000)),
            "/fclib_local/W: expected 3 × 3, found 3 × 2000000000",
        ),
        (changed(&["fclib_local", "W", "nz"], number(6)), "/fclib_local/W/p has 5 numbers, 6 entries are announced"),
        (changed(&["fclib_local", "W", "nz"], number(-3)), "/fclib_local/W/nz: -3 is no size"),
        (
            changed(&["fclib_local", "W", "nz"], number(-1)),
            "/fclib_local/W/p: expected 4 numbers that rise from 0 to at most 5",
        ),
        (changed(&["fclib_local", "W", "i"], Node::Integers(vec![0, 1, 1, 3, 0])), "W: row of an entry, below"),
        (changed(&["fclib_local", "W", "i"], Node::Integers(vec![0, 1, 1, -1, 0])), "W: row of an entry, below"),
        (changed(&["fclib_local", "W", "nz"], Node::Integers(vec![1, 2])), "nz: expected one whole number, found 2"),
        (
            changed(&["fclib_local", "W", "x"], number(1)),
            "expected floating-point numbers, found whole numbers (in /fclib_local/W/x)",
        ),
        (
            changed(&["fclib_local", "W", "x"], Node::Group(vec![])),
            "this is not a list of numbers (in /fclib_local/W/x)",
        ),
        (changed(&["fclib_local", "W"], number(1)), "/fclib_local/W is not a group"),
        (changed(&["fclib_local", "vectors", "q"], Node::Floats(vec![0.0, f64::NAN, 0.0])), "q[1]"),
    ] {
        for form in [FORMS[0], FORMS[3]] {
            let found = message("a.hdf5", &write(&root, form));
            assert!(found.starts_with("a.hdf5") && found.contains(expected), "{found}\n{expected}");
        }
    }
}

/// A list that claims more than the file has: the count, the bytes, or what a chunk unpacks to.
#[test]
fn sizes_are_not_believed() {
    let form = Form { new: false, storage: Storage::Deflated(40_000), big_endian: false, continued: false };
    let options = ReadOptions { max_numbers: 1000, ..ReadOptions::default() };
    let refused = read_bytes("a.hdf5", &write(&local(), form), &options).unwrap_err().to_string();
    assert!(refused.contains("chunks of 40000 numbers of 8 bytes are not possible here"), "{refused}");
    let bytes = write(&local(), FORMS[0]);
    let three = [&3u64.to_le_bytes()[..], &[0x03]].concat();
    let at = bytes.windows(9).position(|w| w == three).expect("the size of q");
    let mut huge = bytes.clone();
    huge[at..at + 8].copy_from_slice(&(1u64 << 24).to_le_bytes());
    let refused = message("a.hdf5", &huge);
    assert!(refused.contains("its numbers take") && refused.contains(&(1u64 << 27).to_string()), "{refused}");
}
