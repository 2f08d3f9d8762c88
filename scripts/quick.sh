#!/usr/bin/env bash
# The checks of what changed since `main` (or BASE), for work in progress: see scripts/test.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh

base=${BASE:-$(git merge-base HEAD main 2> /dev/null || echo HEAD)}
changed=$( (git diff --name-only "$base"; git ls-files --others --exclude-standard) | sort -u)
mapfile -t crates < <(python3 scripts/changed_crates.py <<< "$changed")
echo "changed since $(git rev-parse --short "$base"), with what depends on it: ${crates[*]:-no crate}"

step rust "format"
cargo fmt --all --check

if [ ${#crates[@]} -gt 0 ]; then
    # The extension module has no tests in Rust. It is selected so that features are those of the workspace, as in every build.
    selected=(-p stiction-py)
    for crate in "${crates[@]}"; do selected+=(-p "$crate"); done
    step rust "lints, as errors"
    cargo clippy --release --workspace --all-targets --quiet -- -D warnings
    step rust "tests in release"
    cargo test --release --quiet "${selected[@]}"
fi
if grep -qE '^(python/|tests/(python|checker)/|examples/python/|docs/|crates/stiction-py/|pyproject.toml)' <<< "$changed"; then
    end_step
    bash scripts/test_python.sh --quick
fi
