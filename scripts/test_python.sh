#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh virtual environment under target/, and runs all Python tests and examples against it.
# Options: a list of extra packages to test with, such as `ray mujoco`; tests of what cannot be installed here are skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
venv=target/python-venv
wheels=target/python-wheels

echo "== the wheel, by pip"
rm -rf "$wheels" "$venv"
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
CARGO_TARGET_DIR=$PWD/target "$venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$wheels" .
ls "$wheels"
wheel=$(echo "$wheels"/stiction-*-abi3-*.whl)

# The viewer is tested in a browser, and pictures are drawn without a display, by Mesa.
packages=()
command -v chromium > /dev/null || packages+=(chromium)
"$python" -c 'import ctypes; ctypes.CDLL("libEGL.so.1")' 2> /dev/null || packages+=(libegl1 libgl1-mesa-dri)
if [ ${#packages[@]} -gt 0 ]; then
    echo "== ${packages[*]}, for the tests of viewer and pictures"
    (apt-get update -qq && apt-get install -y -qq "${packages[@]}") > /dev/null 2>&1 || echo "${packages[*]} cannot be installed here: tests that need them are skipped"
fi

echo "== a fresh environment"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel[dev]"
for extra in "$@"; do
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$extra" || echo "$extra cannot be installed here: its tests are skipped"
done

echo "== twins of the examples"
cargo build --release --quiet -p stiction --examples

echo "== tests, from outside the sources"
unset PYTHONPATH
STICTION_TWINS=$PWD/target/release/examples "$venv/bin/python" -m pytest -q tests/python

echo "== 2,000 answers checked in rational and 60-digit arithmetic"
"$venv/bin/python" tests/checker/run.py --count 2000

echo "== other versions of Python that are here, on the same wheel"
version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null; }
seen=" $(version_of "$python") "
for other in "$HOME"/.pyenv/versions/3.*/bin/python python3.{10..14}; do
    version=$(version_of "$other") || continue
    case "$version" in 3.1[0-4]) ;; *) continue ;; esac
    case "$seen" in *" $version "*) continue ;; esac
    seen="$seen$version "
    echo "Python $version"
    "$other" -m venv --clear "$venv-other"
    "$venv-other/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel" pytest
    "$venv-other/bin/python" -m pytest -q tests/python/test_lcp.py tests/python/test_contact.py tests/python/test_scene.py \
        tests/python/test_simulation.py tests/python/test_batch.py tests/python/test_pickles.py tests/python/test_junk.py
done
