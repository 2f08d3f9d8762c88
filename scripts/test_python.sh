#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh virtual environment under target/, and runs all Python tests and examples against it,
# the tests in a browser, and the documentation site.
# Options: a list of extra packages to test with, such as `ray mujoco`; tests of what cannot be installed here are skipped with a message.
# `--quick` first: an environment that is there is used again, without browser, other versions of Python and site.
# `--all-versions` first: all versions of Python that are here, not only the oldest.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/steps.sh

mode=
case "${1:-}" in --quick | --all-versions) mode=$1 && shift ;; esac
python=${PYTHON:-python3}
venv=target/python-venv
wheels=target/python-wheels
# Modules are compiled to bytecode when they are first imported, not all of them beforehand.
install=(-m pip install --quiet --disable-pip-version-check --no-compile)

if [ "$mode" != --quick ] || [ ! -d "$venv" ]; then
    if [ -z "${STICTION_ENVIRONMENT_IS_READY:-}" ]; then
        step python "a fresh environment"
        bash scripts/python_environment.sh "$@"
    fi
fi

step python "the wheel, by pip"
rm -rf "$wheels"
CARGO_TARGET_DIR=$PWD/target "$venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$wheels" .
ls "$wheels"
wheel=$(echo "$wheels"/stiction-*-abi3-*.whl)
"$venv/bin/python" "${install[@]}" "$wheel[dev]"
[ "$mode" != --quick ] || "$venv/bin/python" "${install[@]}" --force-reinstall --no-deps "$wheel"

unset PYTHONPATH
tests() { STICTION_TWINS=$PWD/target/release/examples "$venv/bin/python" -m pytest -q "$@"; }

# Steps that run beside others, because they wait or have one process: what they say comes when they are waited for.
await() {
    local status=0
    wait "$1" || status=$?
    cat "$2"
    return $status
}

step python "tests, from outside the sources"
# With the features of the whole workspace, so that a build of it has them already.
cargo build --release --workspace --exclude stiction-benchmarks --quiet --bins --examples
viewer=(tests/python/test_view_browser.py tests/python/test_view.py)
if [ "$mode" != --quick ]; then
    # Those of the viewer wait for pages most of the time.
    tests -n 2 --dist worksteal -p no:cacheprovider "${viewer[@]}" > target/viewer-tests.log 2>&1 &
    viewer_tests=$!
fi
tests -n 2 --dist worksteal tests/python "${viewer[@]/#/--ignore=}"

check_again() {
    "$venv/bin/python" tests/python/cross_check.py target/release/stiction
    "$venv/bin/python" tests/checker/run.py --count 2000
}
if [ "$mode" = --quick ]; then
    step python "answers checked again in NumPy, and 2,000 in rational and 60-digit arithmetic"
    check_again
    exit 0
fi

version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null; }
other_versions() {
    local seen version other
    seen=" $(version_of "$python") "
    for other in "$HOME"/.pyenv/versions/3.*/bin/python python3.{10..14}; do
        version=$(version_of "$other") || continue
        case "$version" in 3.1[0-4]) ;; *) continue ;; esac
        case "$seen" in *" $version "*) continue ;; esac
        seen="$seen$version "
        echo "Python $version"
        "$other" -m venv --clear "$venv-other"
        "$venv-other/bin/python" "${install[@]}" "$wheel" pytest
        "$venv-other/bin/python" -m pytest -q tests/python/test_lcp.py tests/python/test_contact.py tests/python/test_scene.py \
            tests/python/test_simulation.py tests/python/test_batch.py tests/python/test_pickles.py tests/python/test_junk.py
        # They are in order: the first is the oldest, where something newer than it would fail.
        [ "$mode" = --all-versions ] || break
    done
}

step python "answers checked again in NumPy, and 2,000 in rational and 60-digit arithmetic; other versions of Python beside it"
(set -e; other_versions) > target/python-versions.log 2>&1 &
versions=$!
check_again
await "$versions" target/python-versions.log

step docs "the site, warnings as errors"
NO_MKDOCS_2_WARNING=1 "$venv/bin/python" -m mkdocs build --strict --quiet

step browser "what is left of the viewer's tests, also in a browser"
await "$viewer_tests" target/viewer-tests.log
