"""Every robot file of the Python packages that carry robots: does it load here, what of it is left out, and what does MuJoCo say.

    pip install mujoco gymnasium gymnasium-robotics dm_control metaworld robosuite example-robot-data
    python benchmarks/robots_vs_mujoco.py [--forces] [--list] [PACKAGE | DIRECTORY | FILE ...]

MJCF files are those whose root is <mujoco>, URDF files those that end in .urdf. A file that is refused counts as agreed upon where MuJoCo
refuses it too. With --forces, files that both load are compared at 100 random states without contact: actuator forces, passive forces
(springs, dampers, gravity compensation, fluid) and sensors, each beside the largest of its kind. Every file is read in a process of its own.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PACKAGES = ("gymnasium", "gymnasium_robotics", "dm_control", "metaworld", "robosuite", "pybullet_data", "example_robot_data", "myosuite")
STATES = 100
# What is left out here and has no effect in MuJoCo either.
UNUSED_IN_MUJOCO = ("limits of velocity are not kept",)


def files_of(what: str) -> list[pathlib.Path]:
    """Robot files of a package, of a directory, or a file itself."""
    path = pathlib.Path(what)
    if path.is_file():
        return [path]
    roots = [path] if path.is_dir() else package_roots(what)
    found = [f for root in roots for pattern in ("*.xml", "*.urdf", "*.mjcf") for f in sorted(root.rglob(pattern))]
    return [f for f in found if f.suffix == ".urdf" or is_mjcf(f)]


def package_roots(name: str) -> list[pathlib.Path]:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    roots = [pathlib.Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    if name == "example_robot_data":  # Its files are beside the package.
        roots += [p for p in pathlib.Path(sys.prefix).rglob("example-robot-data/robots") if p.is_dir()]
    return roots


def is_mjcf(file: pathlib.Path) -> bool:
    text = file.read_text(errors="replace")
    at = text.find("<mujoco")
    return at >= 0 and text[at + 7 : at + 8] in " >/\r\n\t"


def run(command: list[str], seconds: float = 300) -> tuple[int, str, str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return -1, "", f"not done after {seconds:.0f} s"
    return done.returncode, done.stdout, done.stderr.strip()


def last_line(text: str) -> str:
    return text.splitlines()[-1] if text else "crashed"


def mujoco_verdict(file: pathlib.Path) -> str | None:
    """Why MuJoCo refuses a file; None if it does not."""
    code = "import mujoco, sys; mujoco.MjModel.from_xml_path(sys.argv[1])"
    status, _, err = run([sys.executable, "-c", code, str(file)])
    return None if status == 0 else last_line(err)


def check(command: str, file: pathlib.Path) -> tuple[str | None, list[dict[str, str]]]:
    """Why the file is refused here, and what of it is not used as it is."""
    status, out, err = run([command, "check", "--json", str(file)])
    try:
        answer = json.loads(out)
    except json.JSONDecodeError:
        return last_line(err), []
    return (None, answer["remarks"]) if status == 0 else (answer["error"], [])


def compare_forces(file: pathlib.Path) -> dict[str, float] | str:
    """The largest difference of each kind, beside the largest number of that kind; or why there is none."""
    status, out, err = run([sys.executable, __file__, "--one", str(file)], 600)
    return json.loads(out) if status == 0 else last_line(err)


def one(file: str) -> None:
    """Compares a file with MuJoCo in this process, and prints the differences."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import robot_forces

    print(json.dumps(robot_forces.compare(file, STATES)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=PACKAGES, help="packages, directories or files")
    parser.add_argument("--forces", action="store_true", help="compare forces and sensors too")
    parser.add_argument("--list", action="store_true", help="a line per file")
    parser.add_argument("--command", default=shutil.which("stiction") or "stiction", help="the command stiction")
    parser.add_argument("--json", metavar="FILE", help="write all of it to a file")
    parser.add_argument("--one", metavar="FILE", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return one(args.one)
    rows = []
    for what in args.what:
        found = files_of(what)
        print(f"{what}: {len(found)} files", flush=True)
        for file in found:
            refused, notes = check(args.command, file)
            theirs = mujoco_verdict(file)
            row = {"package": what, "file": str(file), "refused": refused, "mujoco": theirs, "notes": notes}
            if args.forces and refused is None and theirs is None:
                row["forces"] = compare_forces(file)
            rows.append(row)
            if args.list:
                print(json.dumps({k: v for k, v in row.items() if k != "notes"}), flush=True)
    summary(rows)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))


def summary(rows: list[dict]) -> None:
    both = [r for r in rows if r["refused"] is None and r["mujoco"] is None]
    ours = [r for r in rows if r["refused"] is not None and r["mujoco"] is None]
    print(f"\n{len(rows)} files: {len(both)} load in both, {len(ours)} only in MuJoCo, ", end="")
    print(f"{sum(r['refused'] is None and r['mujoco'] is not None for r in rows)} only here, ", end="")
    print(f"{sum(r['refused'] is not None and r['mujoco'] is not None for r in rows)} in neither")
    print("\nrefused here alone:")
    reasons = collections.Counter(r["refused"].split(": ", 1)[-1][:150] for r in ours)
    for reason, count in reasons.most_common():
        print(f"{count:5}  {reason}")
    def left_out(row: dict) -> set[str]:
        return {n["text"] for n in row["notes"] if n["kind"] == "not yet" and not n["text"].startswith(UNUSED_IN_MUJOCO)}

    left = [r for r in both if left_out(r)]
    print(f"\nfiles of which something is left out that MuJoCo uses: {len(left)} of {len(both)}")
    for row in left:
        print(f"       {row['file']}")
    texts = collections.Counter(t for r in both for t in left_out(r))
    for text, count in texts.most_common():
        print(f"{count:5}  {text}")
    changed = collections.Counter(t[:100] for r in both for t in {n["text"] for n in r["notes"] if n["kind"] in ("changed", "warning")})
    print("\nchanged, or warned of:")
    for text, count in changed.most_common(40):
        print(f"{count:5}  {text}")
    forces(both)


def forces(rows: list[dict]) -> None:
    compared = [r for r in rows if isinstance(r.get("forces"), dict)]
    failed = [r for r in rows if isinstance(r.get("forces"), str)]
    if not compared and not failed:
        return
    print(f"\nforces of {len(compared)} files compared, {len(failed)} could not be")
    for r in failed:
        print(f"       {r['file']}: {r['forces']}")
    kinds = sorted({k for r in compared for k in r["forces"]})
    for kind in kinds:
        values = sorted((r["forces"][kind], r["file"]) for r in compared if kind in r["forces"])
        bound = 1e-6 if kind.startswith("sensor") else 1e-9
        off = [v for v in values if not v[0] <= bound]
        print(f"{kind:30} {len(values):4} files, {len(off)} above {bound:.0e}, largest {values[-1][0]:.1e} ({values[-1][1]})")
        for difference, file in off[-10:]:
            print(f"       {difference:.1e}  {file}")


if __name__ == "__main__":
    main()
