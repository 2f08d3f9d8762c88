//! The same bits in every run, in every thread, at every optimisation level and vector width, from a used and from a new solver.
//!
//! A change of a golden number is a change of some answer's bits: it may be meant, and then the number is to be changed with it.
//! A program of its own, because it runs with debug assertions as well.

#[path = "common/drawn.rs"]
mod drawn;

use drawn::{CLASSES, draw};
use stiction_lcp::catalog::{CATALOG, build};
use stiction_lcp::{InputError, Options, Outcome, Solver};

/// Per solver, the hash over all problems.
const GOLDEN: [(&str, u64); 10] = [
    ("auto", 0xb5ef_9efb_9183_7ad3),
    ("lemke", 0xd53a_0080_02e7_530a),
    ("principal-pivot", 0x7e66_594f_c327_7d17),
    ("modified-ppm", 0x990c_1506_0d18_caa6),
    ("nnls", 0x7830_b24a_51b7_90b5),
    ("dantzig", 0x8b1e_757e_d3b1_a251),
    ("interior-point", 0x6b43_e765_94c1_d955),
    ("feasible-interior-point", 0x66c2_7f8b_de5d_755d),
    ("projected-gauss-seidel", 0xda5f_38b9_d5f2_2f89),
    ("enumerate", 0x6a7a_8311_45cb_0fe2),
];

/// FNV-1a.
struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn numbers(&mut self, numbers: &[f64]) {
        numbers.iter().for_each(|x| self.bytes(&x.to_bits().to_le_bytes()));
    }

    fn outcome(&mut self, outcome: &Outcome) {
        self.bytes(outcome.name().as_bytes());
        self.bytes(&(outcome.stats().pivots as u64).to_le_bytes());
        self.bytes(&(outcome.stats().iterations as u64).to_le_bytes());
        match outcome {
            Outcome::Solved(s) => {
                self.numbers(&s.z);
                self.numbers(&s.w);
                self.bytes(s.basis.to_string().as_bytes());
            }
            Outcome::Stopped(s) => self.numbers(&s.z),
            Outcome::Ray(r) => self.numbers(&r.direction),
            Outcome::Unsolvable(u) => self.bytes(u.proof.to_string().as_bytes()),
        }
    }
}

/// Problems per class and solver.
const SEEDS: u64 = 40;

/// The hash of all outcomes of `name`, from one solver used again and again or from a new one each time.
fn hash(name: &str, reuse: bool) -> u64 {
    let new = || build(name, &Options::default()).unwrap();
    let mut solver: Box<dyn Solver> = new();
    let most = if name == "enumerate" { 6 } else { 24 };
    let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
    for (class, seed) in CLASSES.iter().flat_map(|class| (0..SEEDS).map(move |seed| (class, seed))) {
        let problem = draw(class, 1 + seed as usize % most, seed);
        if !reuse {
            solver = new();
        }
        match solver.solve_from(problem.as_ref(), None) {
            Ok(outcome) => fnv.outcome(&outcome),
            Err(InputError::Unsupported { .. }) => fnv.bytes(b"not taken"),
            Err(error) => panic!("{name} on {class} {seed}: {error}"),
        }
    }
    fnv.0
}

#[test]
fn the_bits_are_the_golden_ones() {
    let found: Vec<(&str, u64)> = CATALOG.iter().map(|entry| (entry.name, hash(entry.name, true))).collect();
    let lines: String = found.iter().map(|(name, hash)| format!("    (\"{name}\", 0x{hash:016x}),\n")).collect();
    assert_eq!(found, GOLDEN, "\n{lines}");
}

#[test]
fn a_used_solver_gives_the_bits_of_a_new_one() {
    for entry in &CATALOG {
        assert_eq!(hash(entry.name, true), hash(entry.name, false), "{}", entry.name);
    }
}

#[test]
fn threads_give_the_same_bits() {
    for entry in &CATALOG {
        let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(|| hash(entry.name, true))).collect();
        let hashes: Vec<u64> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        assert_eq!(hashes[0], hashes[1], "{}", entry.name);
    }
}
