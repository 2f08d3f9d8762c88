#!/usr/bin/env bash
# What takes hours: long soaks, 100,000 answers checked in exact arithmetic, a million garbled files for every reader.
# Needs what scripts/test.sh needs. SEED=N makes a night's run again; it is the date unless given.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${SEED:-$(date +%Y%m%d)}
step() { printf '\n== %s (seed %s)\n' "$*" "$seed"; }

cargo build --release --quiet -p stiction-cli -p stiction-fuzz

step "soaks"
./target/release/stiction soak --seed "$seed" --count 500000 --solver auto,lemke --class psd,psd-skew,p,copositive-plus,contact
./target/release/stiction soak --seed "$seed" --count 50000 --model frictionless,viscous,no-slip,coulomb-polyhedral,coulomb-cone,coulomb-pyramid,baraff-friction,drumwright-shell
./target/release/stiction soak --seed "$seed" --count 50000 --rates --model frictionless,viscous,no-slip

step "hull pairs"
HULL_SEED=$seed cargo test --release --quiet -p stiction-body --test hull_pairs -- --ignored

step "answers checked in rational and 60-digit arithmetic"
python3 -m venv target/nightly-venv
target/nightly-venv/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
CARGO_TARGET_DIR=$PWD/target target/nightly-venv/bin/python -m pip install --quiet --disable-pip-version-check .
target/nightly-venv/bin/python tests/checker/run.py --seed "$seed" --count 100000

step "garbled files"
./target/release/stiction-fuzz all --seed "$seed"

step "all of the night's checks passed"
