#!/usr/bin/env bash
# Makes the virtual environment that the Python tests run in, with all that Stiction needs but not Stiction itself, and installs
# the browser of the viewer's tests. Mostly waits for downloads, so scripts/test.sh starts it beside the lints.
# Options: packages to test with, such as `ray mujoco`; what cannot be installed here is said, and its tests are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
venv=target/python-venv
# Modules are compiled to bytecode when they are first imported, not all of them beforehand.
install=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile)

rm -rf "$venv"
"$python" -m venv "$venv"
"${install[@]}" --upgrade pip
"$venv/bin/python" - << 'EOF' > target/python-requirements.txt
import re
try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib

project = tomllib.load(open("pyproject.toml", "rb"))["project"]


def requirements(extra):
    for requirement in project["optional-dependencies"][extra]:
        own = re.fullmatch(r"stiction\[(.*)\]", requirement)
        for other in own[1].split(",") if own else ():
            yield from requirements(other)
        if not own:
            yield requirement


print(*project["dependencies"], *requirements("dev"), sep="\n")
EOF
"${install[@]}" -r target/python-requirements.txt
for extra in "$@"; do
    "${install[@]}" "$extra" || echo "$extra cannot be installed here: its tests are skipped"
done

# The viewer is tested in a browser, and pictures are drawn without a display, by Mesa.
packages=()
command -v chromium > /dev/null || packages+=(chromium)
"$python" -c 'import ctypes; ctypes.CDLL("libEGL.so.1")' 2> /dev/null || packages+=(libegl1 libgl1-mesa-dri)
if [ ${#packages[@]} -gt 0 ]; then
    (apt-get update -qq && apt-get install -y -qq "${packages[@]}") > /dev/null 2>&1 || echo "${packages[*]} cannot be installed here: tests that need them are skipped"
fi
