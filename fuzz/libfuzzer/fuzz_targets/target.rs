//! The target named by the environment variable `STICTION_FUZZ`, under libFuzzer.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use stiction_fuzz::{TARGETS, Target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("STICTION_FUZZ").unwrap_or_default();
    TARGETS.iter().find(|t| t.name == name).expect("set STICTION_FUZZ to the name of a target")
});

fuzz_target!(|bytes: &[u8]| {
    let _ = (TARGET.run)(bytes);
});
