#!/usr/bin/env bash
# Builds the wheel, installs it into a fresh virtual environment under target/, and runs all Python tests and examples against it.
# Options: a list of extra packages to install, such as `ray mujoco`; what is not there is skipped with a message.
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

echo "== a fresh environment"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel[dev]" "$@"

echo "== twins of the examples"
cargo build --release --quiet -p stiction --examples

echo "== other versions of Python that are here, on the same wheel"
for other in ${PYTHONS:-$(ls -d "$HOME"/.pyenv/versions/3.1[0-9]*/bin/python 2>/dev/null) python3.10 python3.12 python3.13 python3.14}; do
    command -v "$other" > /dev/null || continue
    "$other" --version
    "$other" -m venv --clear "$venv-other"
    "$venv-other/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel" pytest
    "$venv-other/bin/python" -m pytest -q tests/python/test_lcp.py tests/python/test_contact.py tests/python/test_scene.py \
        tests/python/test_simulation.py tests/python/test_batch.py
done

echo "== tests, from outside the sources"
unset PYTHONPATH
STICTION_TWINS=$PWD/target/release/examples "$venv/bin/python" -m pytest -q tests/python
