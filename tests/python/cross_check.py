#!/usr/bin/env python3
"""Every answer of `stiction solve --json`, checked again in NumPy by formulas written down here anew.

    python tests/python/cross_check.py path/to/stiction

Families of problems come from benchmarks/lemke_vs_peers.py, mixed and boxed ones are made here.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import lemke_vs_peers as families  # noqa: E402

TOLERANCE = 1e-10


def solve(command, path, *words):
    run = subprocess.run([command, "solve", path, "--json", *words], capture_output=True, text=True)
    return run.returncode, json.loads(run.stdout) if run.stdout else None, run.stderr


def errors(m, q, lo, hi, z):
    """(residual, backward error) of z for w = M z + q, lo <= z <= hi."""
    w, omega = m @ z + q, np.abs(m) @ np.abs(z) + np.abs(q)
    rho = 1 / np.abs(m).max()
    free = np.isinf(lo) & np.isinf(hi)
    bounds = np.abs(np.r_[lo, hi])
    plain = bool(np.all((lo == 0) | free) and np.all(np.isinf(hi)))
    size = rho * np.abs(q).max() if plain else max(rho * np.abs(q).max(), bounds[np.isfinite(bounds)].max(initial=0))
    natural = np.where(free, rho * w, z - np.clip(z - rho * w, lo, hi))
    if np.any(z < lo) or np.any(z > hi):
        return np.abs(natural).max() / size, float("inf")
    missing = np.maximum(np.where(z < hi, -w, 0), np.where(z > lo, w, 0)).clip(0)
    return np.abs(natural).max() / size, (missing / np.where(omega > 0, omega, 1)).max()


def mixed(rng, equations, rows, rank):
    """A monotone, solvable mixed problem whose free block has the given rank."""
    n = equations + rows
    factor, skew = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    factor[:equations] = rng.standard_normal((equations, rank)) @ rng.standard_normal((rank, n))
    skew[:equations, :equations] = 0
    m = factor @ factor.T + skew - skew.T
    z = np.r_[rng.standard_normal(equations), np.where(rng.random(rows) < 0.5, rng.random(rows), 0)]
    w = np.r_[np.zeros(equations), np.where(z[equations:] > 0, 0, rng.random(rows))]
    return m, w - m @ z, np.arange(n) < equations


def boxed(rng, n):
    a = rng.standard_normal((n, n))
    lo = np.where(rng.random(n) < 0.7, -rng.random(n), -np.inf)
    hi = np.where(rng.random(n) < 0.7, rng.random(n), np.inf)
    return a @ a.T + 0.1 * np.eye(n), 3 * rng.standard_normal(n), lo, hi


def cases(folder):
    """(name, file, M, q, lo, hi) of every problem."""
    for name, (m, q) in families.problems(quick=True):
        np.savez(folder / f"{name}.npz", M=m, q=q)
        yield name, folder / f"{name}.npz", m, q, np.zeros(len(q)), np.full(len(q), np.inf)
    rng = np.random.default_rng(11)
    for k in range(12):
        m, q, free = mixed(rng, 4, 6, 4 if k % 2 else 2)
        np.savez_compressed(folder / f"mixed{k}.npz", M=np.asfortranarray(m), q=q, free=free)
        yield f"mixed{k}", folder / f"mixed{k}.npz", m, q, np.where(free, -np.inf, 0), np.full(len(q), np.inf)
    for k in range(12):
        m, q, lo, hi = boxed(rng, 3 + k)
        text = {"kind": "box", "M": m.tolist(), "q": q.tolist(), "lo": words(lo), "hi": words(hi)}
        (folder / f"box{k}.json").write_text(json.dumps(text))
        yield f"boxed{k}", folder / f"box{k}.json", m, q, lo, hi


def words(bounds):
    return [b if np.isfinite(b) else ("inf" if b > 0 else "-inf") for b in bounds.tolist()]


def check(command, name, path, m, q, lo, hi, solver):
    code, answer, stderr = solve(command, path, "--solver", solver)
    if code != 0 or answer["outcome"] != "solved":
        return f"{name} by {solver}: exit {code}, {answer and answer.get('outcome')} {stderr}"
    z = np.array(answer["z"])
    residual, backward = errors(m, q, lo, hi, z)
    if not (residual <= TOLERANCE and backward <= TOLERANCE):
        return f"{name} by {solver}: NumPy finds residual {residual:.1e}, backward error {backward:.1e}"
    if np.abs(np.array(answer["w"]) - (m @ z + q)).max() > 1e-9 * np.abs(q).max():
        return f"{name} by {solver}: w is not M z + q"
    return None


def bad_input(command, folder):
    """Broken files: one object that says what is wrong, exit 2."""
    broken = {"nan.json": '{"kind":"lcp","M":[[1e999]],"q":[1]}', "short.dat": "2\n0\n2\n2\n2 2\n1 0", "text.json": "hello"}
    for name, text in broken.items():
        (folder / name).write_text(text)
        code, answer, stderr = solve(command, folder / name)
        ok = code == 2 and stderr == "" and answer and answer["exit_code"] == 2 and name in answer["error"]
        yield None if ok else f"{name}: exit {code}, {answer} {stderr!r}"


def main():
    command = sys.argv[1]
    passed, failed = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        results = [check(command, *case, s) for case in cases(folder) for s in ("auto", "lemke")]
        results += bad_input(command, folder)
    for result in results:
        passed += result is None
        if result:
            failed.append(result)
    print(*failed, sep="\n", end="\n" if failed else "")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
