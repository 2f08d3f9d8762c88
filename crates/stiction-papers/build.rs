//! Tells the crate which compiler builds it, for the reports.
#![allow(clippy::print_stdout)] // how cargo is told

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok().and_then(|o| String::from_utf8(o.stdout).ok());
    println!("cargo::rustc-env=STICTION_RUSTC={}", version.as_deref().map_or("unknown", str::trim));
    println!("cargo::rerun-if-changed=build.rs");
}
