"""The crates that the changed files on standard input belong to, and those that depend on them, one per line."""

import json
import subprocess
import sys
from pathlib import Path

metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--no-deps", "--format-version", "1"]))
root = Path(metadata["workspace_root"])
packages = {package["name"]: package for package in metadata["packages"]}
folders = {name: Path(package["manifest_path"]).parent.relative_to(root) for name, package in packages.items()}

files = [Path(line) for line in sys.stdin.read().splitlines()]
found = {name for name, folder in folders.items() if any(folder in file.parents for file in files)}
if any(file.name in ("Cargo.toml", "Cargo.lock") and file.parent == Path() for file in files):
    found = set(packages)
more = found
while more:
    more = {name for name, p in packages.items() if name not in found and any(d["name"] in found for d in p["dependencies"])}
    found |= more
# The tests of the extension module are Python's; benchmarks have none.
for name in sorted(found - {"stiction-py", "stiction-benchmarks"}):
    sys.stdout.write(f"{name}\n")
