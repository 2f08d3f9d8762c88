#!/usr/bin/env bash
# Every check of the project, as CI runs it: about 12 minutes on two quiet cores from a clean clone (aim: 15). Needs Rust and Python;
# installs the rest into target/. The table at the end says how long each step took.
#
# `scripts/test.sh quick` is for work in progress: formatting, lints and tests of the crates that changed since `main`
# (BASE=COMMIT chooses another commit) and of those that depend on them; the Python tests where Python changed.
# `scripts/nightly.sh` has the long soaks, all versions of Python, and all tests in the dev profile.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = quick ]; then
    exec bash scripts/quick.sh
fi
. scripts/steps.sh

# Every program is built once here, so that nothing would be read from an incremental cache; nobody debugs them.
export CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_DEBUG=false

# What is built twice takes twice as long. So the selection of packages is always the workspace, with its tests, which the
# features of dependencies follow from, and the profile is release.
packages=(--workspace --exclude stiction-benchmarks)
everything=(--release "${packages[@]}")
# The project's own crates without optimisation, with debug assertions and checks of overflow. Settings of single
# packages leave the dependencies as they are, so that these are not compiled again, as in the dev profile.
# The Python extension cannot be linked into a test program: Python has the symbols it needs.
checked=(--release "${packages[@]}" --exclude stiction-py)
for crate in stiction stiction-{body,cli,contact,fuzz,lcp,linalg,papers,sim}; do
    for setting in opt-level=0 debug-assertions=true overflow-checks=true codegen-units=16; do
        checked+=(--config "profile.release.package.$crate.$setting")
    done
done

step rust "format"
cargo fmt --all --check

# Downloads meanwhile what the Python tests need.
extras=(ray mujoco)
mkdir -p target
bash scripts/python_environment.sh "${extras[@]}" > target/python-environment.log 2>&1 &
environment=$!

step rust "lints, as errors"
cargo clippy --release --workspace --all-targets --quiet -- -D warnings

step rust "solvers without their default features"
cargo check --release --quiet -p stiction-lcp --no-default-features

step rust "release build with tests and examples"
cargo build "${everything[@]}" --quiet --lib --bins --examples --test '*'

step rust "tests in release"
cargo test "${everything[@]}" --quiet --test '*'
# The golden bits with narrower vectors than the machine has.
for vectors in plain v3; do
    STICTION_VECTORS=$vectors cargo test "${everything[@]}" --quiet --test determinism
done

step rust "checked build with unit tests: debug assertions, no optimisation"
# Both builds put the command into the same place.
ln -f target/release/stiction target/stiction-release
cargo test "${checked[@]}" --quiet --no-run --lib --bins --test determinism
cargo build "${checked[@]}" --quiet --bin stiction --test determinism
ln -f target/release/stiction target/stiction-checked

step rust "unit tests and golden bits in the checked build"
cargo test "${checked[@]}" --quiet --lib --bins --test determinism
ln -f target/stiction-release target/release/stiction

step rust "scenes: the same bits in the checked and the release build, with vectors of any width"
hash_of() { "$1" run "scenes/$2.toml" --steps "$3" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["hash"])'; }
for scene in grasp stack dominoes quad-terrain four-bar; do
    checked_hash=$(hash_of target/stiction-checked "$scene" 500)
    release=$(hash_of target/stiction-release "$scene" 500)
    echo "$scene $checked_hash $release"
    [ "$checked_hash" = "$release" ]
    for vectors in plain v3; do
        [ "$(STICTION_VECTORS=$vectors hash_of target/stiction-release "$scene" 500)" = "$release" ]
    done
done

step rust "the main job, as the README has it"
./target/release/stiction run scenes/grasp.toml

step rust "instructions of a step, where valgrind is"
python3 scripts/instructions.py

step rust "short soak"
./target/release/stiction soak --count 2000 --solver auto,lemke --class psd,psd-skew,p,copositive-plus,contact
./target/release/stiction soak --count 2000 --class any
./target/release/stiction soak --count 500 --model frictionless,viscous,no-slip,coulomb-polyhedral,coulomb-cone,coulomb-pyramid,baraff-friction,drumwright-shell
./target/release/stiction soak --count 500 --rates --model frictionless,viscous,no-slip

step docs "documentation of the crates, examples included"
RUSTDOCFLAGS="-D warnings" cargo doc "${everything[@]}" --no-deps --quiet
cargo test "${everything[@]}" --quiet --doc
end_step

status=0
wait "$environment" || status=$?
cat target/python-environment.log
[ $status = 0 ]
STICTION_ENVIRONMENT_IS_READY=1 bash scripts/test_python.sh "${extras[@]}"

printf '\n== all checks passed\n'
