#!/usr/bin/env bash
# What takes hours: all tests in the dev profile and those that are ignored elsewhere, all versions of Python, long soaks,
# 100,000 answers checked in exact arithmetic, a million garbled files for every reader.
# Needs what scripts/test.sh needs. SEED=N makes a night's run again; it is the date unless given.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${SEED:-$(date +%Y%m%d)}
step() { printf '\n== %s (seed %s)\n' "$*" "$seed"; }

step "the main job, as the README has it, compiled from nothing"
rm -rf target/nightly
CARGO_TARGET_DIR=target/nightly cargo run --release --quiet -- run scenes/grasp.toml
rm -rf target/nightly

step "all tests in the dev profile, with debug assertions and checks of overflow"
cargo test --workspace --exclude stiction-benchmarks --quiet

step "tests that are ignored elsewhere, and those that draw cases, with more of them"
cargo test --release --workspace --exclude stiction-benchmarks --quiet --test '*' -- --ignored
PROPTEST_CASES=100000 STICTION_FACTORED_CASES=20000 cargo test --release --quiet -p stiction-py -p stiction-lcp -p stiction-contact --test '*'

step "collision beside parry"
cargo test --release --quiet -p stiction-benchmarks --test '*'

step "Python on all versions that are here"
bash scripts/test_python.sh --all-versions ray mujoco

cargo build --release --workspace --exclude stiction-benchmarks --quiet --bins

step "soaks"
./target/release/stiction soak --seed "$seed" --count 500000 --solver auto,lemke --class psd,psd-skew,p,copositive-plus,contact
./target/release/stiction soak --seed "$seed" --count 50000 --model frictionless,viscous,no-slip,coulomb-polyhedral,coulomb-cone,coulomb-pyramid,baraff-friction,drumwright-shell
./target/release/stiction soak --seed "$seed" --count 50000 --rates --model frictionless,viscous,no-slip

step "hull pairs"
HULL_SEED=$seed cargo test --release --quiet -p stiction-body --test all hull_pairs -- --ignored

step "answers checked in rational and 60-digit arithmetic"
target/python-venv/bin/python tests/checker/run.py --seed "$seed" --count 100000

step "garbled files"
./target/release/stiction-fuzz all --seed "$seed"

step "all of the night's checks passed"
