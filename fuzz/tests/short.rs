//! A short run of every target: no panic. `cargo run --release -p stiction-fuzz -- all` is the long one.

use stiction_fuzz::{Inputs, Random, TARGETS, shape_of};

/// Inputs of each target.
const COUNT: u64 = 100;

#[test]
fn no_target_panics() {
    for target in &TARGETS {
        let mut inputs = Inputs::new(target);
        let good: Vec<Vec<u8>> = inputs.good().collect();
        let read = good.iter().filter(|bytes| (target.run)(bytes).is_ok()).count();
        assert!(read > 0, "{}: none of the good files is read", target.name);
        // What is far from a whole file is refused too early to try what is behind.
        let whole = ["contact-json", "urdf", "sdf", "mjcf", "scene", "recording", "saved-state", "scene-steps"];
        assert!(read == good.len() || !whole.contains(&target.name), "{}: {read} of {}", target.name, good.len());
        let mut seen = std::collections::BTreeSet::new();
        for index in 0..COUNT.min(target.count / 1000) {
            let (bytes, parts) = inputs.next(&mut Random::new(1, index));
            let answer = (target.run)(&bytes).err().unwrap_or_default();
            if seen.insert(shape_of(&answer)) {
                inputs.keep(parts);
            }
        }
    }
}
