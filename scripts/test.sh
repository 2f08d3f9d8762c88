#!/usr/bin/env bash
# Every check of the project, as CI runs it. Needs Rust and Python; installs the rest into target/.
set -euo pipefail
cd "$(dirname "$0")/.."

# Every program is built once here, so that nothing would be read from an incremental cache.
export CARGO_INCREMENTAL=0

step() { printf '\n== %s\n' "$*"; }

step "format"
cargo fmt --all --check

step "lints, as errors"
cargo clippy --workspace --all-targets --quiet -- -D warnings

step "tests"
cargo test --workspace --quiet

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

step "release build, and the same results as the debug build"
cargo build --release --quiet
cargo test --release --quiet -p stiction-lcp --test determinism

step "the main job, as the README has it"
cargo run --release --quiet -- run scenes/grasp.toml

step "scenes: the same bits in debug and release"
cargo build --quiet
hash_of() { "$1" run "scenes/$2.toml" --steps "$3" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["hash"])'; }
for scene in grasp stack dominoes quad-terrain four-bar; do
    debug=$(hash_of target/debug/stiction "$scene" 500)
    release=$(hash_of target/release/stiction "$scene" 500)
    echo "$scene $debug $release"
    [ "$debug" = "$release" ]
done

step "short soak"
./target/release/stiction soak --count 2000 --solver auto,lemke --class psd,psd-skew,p,copositive-plus,contact
./target/release/stiction soak --count 2000 --class any
./target/release/stiction soak --count 500 --model frictionless,viscous,no-slip,coulomb-polyhedral,coulomb-cone,coulomb-pyramid,baraff-friction,drumwright-shell
./target/release/stiction soak --count 500 --rates --model frictionless,viscous,no-slip

step "answers checked again in NumPy"
python3 -m venv target/venv
target/venv/bin/python -m pip install --quiet --disable-pip-version-check numpy
target/venv/bin/python tests/python/cross_check.py target/release/stiction

step "the Python package"
bash scripts/test_python.sh ray mujoco

step "benchmarks compile"
cargo fmt --manifest-path benchmarks/Cargo.toml --check
cargo clippy --manifest-path benchmarks/Cargo.toml --quiet -- -D warnings

step "all checks passed"
