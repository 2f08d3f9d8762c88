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

step python "the wheel, by pip"
rm -rf "$wheels"
[ "$mode" = --quick ] || rm -rf "$venv"
[ -d "$venv" ] || "$python" -m venv "$venv"
"$venv/bin/python" "${install[@]}" --upgrade pip
CARGO_TARGET_DIR=$PWD/target "$venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$wheels" .
ls "$wheels"
wheel=$(echo "$wheels"/stiction-*-abi3-*.whl)

# The viewer is tested in a browser, and pictures are drawn without a display, by Mesa.
packages=()
command -v chromium > /dev/null || packages+=(chromium)
"$python" -c 'import ctypes; ctypes.CDLL("libEGL.so.1")' 2> /dev/null || packages+=(libegl1 libgl1-mesa-dri)
if [ ${#packages[@]} -gt 0 ]; then
    step browser "${packages[*]}, for the tests of viewer and pictures"
    (apt-get update -qq && apt-get install -y -qq "${packages[@]}") > /dev/null 2>&1 || echo "${packages[*]} cannot be installed here: tests that need them are skipped"
fi

step python "a fresh environment"
"$venv/bin/python" "${install[@]}" "$wheel[dev]"
[ "$mode" != --quick ] || "$venv/bin/python" "${install[@]}" --force-reinstall --no-deps "$wheel"
for extra in "$@"; do
    "$venv/bin/python" "${install[@]}" "$extra" || echo "$extra cannot be installed here: its tests are skipped"
done

unset PYTHONPATH
tests() { STICTION_TWINS=$PWD/target/release/examples "$venv/bin/python" -m pytest -q "$@"; }

step python "tests, from outside the sources"
# With the features of the whole workspace, so that a build of it has them already.
cargo build --release --workspace --exclude stiction-benchmarks --quiet --bins --examples
tests -n 2 --dist worksteal tests/python --ignore tests/python/test_view.py --ignore tests/python/test_view_browser.py

step python "answers of the command checked again in NumPy"
"$venv/bin/python" tests/python/cross_check.py target/release/stiction

step python "2,000 answers checked in rational and 60-digit arithmetic"
"$venv/bin/python" tests/checker/run.py --count 2000

[ "$mode" != --quick ] || exit 0

step python "other versions of Python, on the same wheel"
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null; }
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

step docs "the site, warnings as errors"
NO_MKDOCS_2_WARNING=1 "$venv/bin/python" -m mkdocs build --strict --quiet

# One after the other: they wait for pictures that come in time.
step browser "the viewer, also in a browser"
tests tests/python/test_view.py tests/python/test_view_browser.py
