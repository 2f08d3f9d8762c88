"""Robot scenes in motion beside MuJoCo: steps that fail, certificates, and processor time side by side.

    python benchmarks/robot_runs.py [--scenes 100] [--seconds 5] [--json FILE] [PACKAGE | DIRECTORY | FILE ...]

Of the MJCF files that both load and that can move, as many as asked for are taken, evenly over all packages; files with the same text count once.
Both start where the file says (its first keyframe), with the file's step, on one thread; every actuator with a range of controls swings over half of it
with 0.5 Hz. Chunks of steps take turns, so that a busy machine disturbs both alike; times are of the processor. A run ends with the first step
that is not certified. Every scene has a process of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

from robots_vs_mujoco import PACKAGES, files_of, is_mjcf

CHUNK = 50
LIMIT = 600.0


def one(file: str, seconds: float, limit: float) -> dict:
    """Runs a scene in this process."""
    import warnings

    import mujoco
    import numpy as np
    import stiction

    warnings.simplefilter("ignore")
    model = mujoco.MjModel.from_xml_path(file)
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    if model.nv == 0:
        return {"skip": "nothing moves"}
    scene = stiction.Scene.load(file, keyframe=0 if model.nkey else -1).with_settings(threads=1)
    simulation = stiction.Simulation(scene, raises=False, separate=True)
    middle, half = np.array(data.ctrl), np.zeros(model.nu)
    limited = model.actuator_ctrllimited.astype(bool) if model.nu else np.zeros(0, bool)
    if model.nu:
        low, high = model.actuator_ctrlrange.T
        middle = np.where(limited, 0.5 * (low + high), middle)
        half = np.where(limited, 0.25 * (high - low), 0.0)
    phases = np.arange(model.nu)
    steps = round(seconds / model.opt.timestep)
    out = {"nv": int(model.nv), "steps": steps, "made": 0, "failed": None, "ours": 0.0, "theirs": 0.0}
    worst, contacts, slowest, factors = 0.0, 0, 0.0, 0

    def control(k: int) -> np.ndarray:
        return middle + half * np.sin(math.tau * 0.5 * k * model.opt.timestep + phases)

    k = 0
    while k < steps and out["failed"] is None and out["ours"] < limit:
        chunk = range(k, min(k + CHUNK, steps))
        begin = time.process_time()
        for i in chunk:
            simulation.ctrl[:] = control(i)
            report = simulation.step()
            if not report.ok:
                out["failed"] = str(report.why)[:200]
                break
            out["made"] += 1
            worst, contacts, factors = max(worst, report.certificate), max(contacts, report.contacts), factors + report.factorizations
        spent = time.process_time() - begin
        slowest = max(slowest, spent / len(chunk))
        out["ours"] += spent
        begin = time.process_time()
        for i in chunk:
            data.ctrl[:] = control(i)
            mujoco.mj_step(model, data)
        out["theirs"] += time.process_time() - begin
        k = chunk.stop
    out["warned"] = int(sum(w.number for w in data.warning))
    return out | {"certificate": worst, "contacts": contacts, "slowest chunk": slowest, "factors": factors}


def distinct(what: list[str]) -> list[pathlib.Path]:
    seen, files = set(), []
    for file in (f for place in what for f in files_of(place)):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        if file.suffix != ".urdf" and is_mjcf(file) and digest not in seen:
            seen.add(digest)
            files.append(file)
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=PACKAGES, help="packages, directories or files")
    parser.add_argument("--scenes", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--limit", type=float, default=LIMIT, help="processor time of a scene (s)")
    parser.add_argument("--json", metavar="FILE", help="write all of it to a file")
    parser.add_argument("--one", metavar="FILE", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one, args.seconds, args.limit)))
        return
    files, rows = distinct(args.what), []
    # Every second, then those between, and so on: any number of scenes is spread over all packages.
    order = sorted(range(len(files)), key=lambda i: int(f"{i:012b}"[::-1], 2))
    for file in (files[i] for i in order):
        if len(rows) == args.scenes:
            break
        command = [sys.executable, __file__, "--one", str(file), "--seconds", str(args.seconds), "--limit", str(args.limit)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"not run: {file}: {(done.stderr.strip().splitlines() or ['crashed'])[-1][:150]}", flush=True)
            continue
        row = json.loads(done.stdout.splitlines()[-1])
        if "skip" in row:
            continue
        rows.append({"file": str(file), **row})
        made = row["made"] / max(row["steps"], 1)
        ratio = row["ours"] / row["theirs"] if row["theirs"] > 0 else math.inf
        print(f"{ratio:8.2f}  {made:6.1%}  {row['certificate']:.1e}  nv {row['nv']:4}  contacts {row['contacts']:4}  {file}  {row['failed'] or ''}", flush=True)
    summary(rows)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))


def summary(rows: list[dict]) -> None:
    if not rows:
        return
    ratios = sorted((r["ours"] / max(r["theirs"], 1e-9), r["file"]) for r in rows if r["failed"] is None)
    failed = [r for r in rows if r["failed"] is not None]
    short = [r for r in rows if r["failed"] is None and r["made"] < r["steps"]]
    print(f"\n{len(rows)} scenes: {len(failed)} with a step that is not certified, {len(short)} not done within their time")
    print(f"largest certificate, which covers the energy inequality: {max(r['certificate'] for r in rows):.1e}")
    if ratios:
        values = [x for x, _ in ratios]
        print(f"time beside MuJoCo's: median {statistics.median(values):.2f}, {sum(x > 5 for x in values)} above 5, largest {values[-1]:.1f}")
        for ratio, file in ratios[-10:]:
            print(f"{ratio:8.2f}  {file}")


if __name__ == "__main__":
    main()
