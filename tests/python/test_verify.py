"""The checker: exact measures, and recordings that are not what they say."""

from __future__ import annotations

import json
import struct
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction
from stiction import contact, lcp, verify
from stiction._stiction import _main
from stiction.verify.__main__ import main

#: Exact measures of these answers are known by hand.
PARTICLE = {
    "mass": [[[2.0, 0, 0], [0, 2.0, 0], [0, 0, 2.0]]],
    "v": [1.0, 0, 0],
    "force": [0, 0, -16.0],
    "dt": 0.0625,
    "contacts": [
        {"normal": [[0, [0, 0, 1.0]]], "tangent_s": [[0, [1.0, 0, 0]]], "tangent_t": [[0, [0, 1.0, 0]]], "mu": 0.5}
    ],
}
ARITHMETICS = [verify.Decimals(), verify.Fractions()]


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_an_exact_answer_measures_nothing(arithmetic: verify.Arithmetic) -> None:
    exact = verify.check_contact(
        PARTICLE, {"normal": [1.0], "tangent_s": [-0.5], "tangent_t": [0.0]}, [0.75, 0, 0], "coulomb-cone", "velocity", arithmetic
    )
    assert all(x == 0.0 for x in exact.named().values())
    assert exact.modes == ["slide"]


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize(
    ("normal", "tangent", "motion", "measure"),
    [
        (1.0 + 1e-9, -0.5, [0.75, 0, 0], "momentum"),
        (1.0, -0.5, [0.75, 0, -1e-9], "signorini"),
        (1.0, -0.5 * (1 + 1e-9), [0.75, 0, 0], "friction"),
        (1.0, 0.5, [1.25, 0, 0], "work"),
        (1.0, 0.5, [1.25, 0, 0], "energy"),
    ],
)
def test_a_wrong_number_is_measured(
    arithmetic: verify.Arithmetic, normal: float, tangent: float, motion: list[float], measure: str
) -> None:
    forces = {"normal": [normal], "tangent_s": [tangent], "tangent_t": [0.0]}
    exact = verify.check_contact(PARTICLE, forces, motion, "coulomb-cone", "velocity", arithmetic)
    assert exact.named()[measure] > 1e-11


def test_both_arithmetics_agree() -> None:
    problem = {**PARTICLE, "v": [0.1, 0.2, -0.3], "dt": 0.1}
    problem["mass"] = [[[2.0, 0.1, 0.3], [0.1, 1.7, 0.2], [0.3, 0.2, 3.1]]]
    forces = {"normal": [0.7], "tangent_s": [-0.2], "tangent_t": [0.1]}
    for model in ("coulomb-cone", "coulomb-polyhedral", "drumwright-shell", "viscous", "no-slip", "frictionless"):
        a, b = (verify.check_contact(problem, forces, [0.1, 0.1, 0.1], model, "velocity", x).named() for x in ARITHMETICS)
        assert a == pytest.approx(b, rel=1e-14)


def test_measures_of_complementarity_problems() -> None:
    exact = verify.check_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0], [4 / 3, 7 / 3])
    assert exact.backward_error is not None
    assert 0 < exact.backward_error < Fraction(1, 10**15)
    assert exact.solved(1e-10)
    worse = verify.check_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0], [4 / 3, 7 / 3 * (1 + 1e-9)])
    assert not worse.solved(1e-10)
    assert verify.check_lcp([[1.0]], [1.0], [-1e-300]).backward_error is None
    assert verify.check_lcp([[1.0]], [-1.0], [0.25], lo=[0.0], hi=[0.25]).backward_error == 0
    assert verify.check_lcp([[1.0]], [-1.0], [0.25], lo=[0.0], hi=[0.5]).backward_error == Fraction(3, 5)
    assert verify.check_lcp([[1.0]], [-1.0], [-1.0], free=[True]).residual == 2
    # Exactly, 0.1² is not the double 0.01.
    assert verify.gram([[0.1]]) == [[Fraction(0.1) ** 2]]


def test_a_stated_answer_is_not_below_the_exact_one() -> None:
    M, q = [[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]
    answer = lcp.solve(M, q).require()
    exact = verify.check_lcp(M, q, answer.z)
    assert exact.backward_error is not None
    assert exact.backward_error <= Fraction(answer.certificate.backward_error)
    assert exact.residual <= Fraction(answer.certificate.residual)
    solved = contact.solve(contact.ContactProblem.from_json(json.dumps(PARTICLE))).require()
    forces = {kind: getattr(solved, kind) for kind in verify.KINDS}
    measured = verify.check_contact(PARTICLE, forces, solved.motion, "coulomb-cone")
    assert measured.worst()[1] <= solved.certificate.worst + verify.SLACK


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty steps of a block that slides, beside one that stays."""
    folder = tmp_path_factory.mktemp("recordings")
    scene = folder / "scene.toml"
    scene.write_text(
        """
dt = 0.01
[[bodies]]
name = "ground"
fixed = true
shape = { plane = true }
[[bodies]]
name = "slides"
mass = 1
position = [0, 0, 0.1]
velocity = [3, 0.5, 0]
shape = { box = [0.2, 0.2, 0.2] }
[[bodies]]
name = "stays"
mass = 1
position = [0, 2, 0.1]
shape = { box = [0.2, 0.2, 0.2] }
"""
    )
    file = folder / "run.rec"
    assert _main(["stiction", "run", str(scene), "--steps", "30", "--record", str(file)]) == 0
    return file


def test_a_recording_is_what_it_says(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(recording)]) == 0, capsys.readouterr().out
    assert "every step is what it says" in capsys.readouterr().out
    assert main([str(recording), "--exact", "--every", "10"]) == 0
    assert "step 10: 8 contacts" in capsys.readouterr().out


def test_a_file_that_is_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.rec").write_bytes(b"nothing")
    assert main([str(tmp_path / "a.rec")]) == 2
    assert main([str(tmp_path / "missing.rec")]) == 2
    assert "a.rec" in capsys.readouterr().err


def a_step(recording: Path) -> dict[str, Any]:
    steps = list(stiction.Recording(recording))
    assert len(steps) == len(stiction.Recording(recording)) == 30
    step: dict[str, Any] = dict(steps[20])
    step["forces"] = {kind: np.array(x) for kind, x in step["forces"].items()}
    return step


def test_tampered_steps_are_found(recording: Path) -> None:
    def findings(**changes: Any) -> str:
        step = a_step(recording)
        for key, change in changes.items():
            step[key] = change(step[key])
        return "; ".join(str(f) for f in verify.check_step(step, 1e-10).findings)

    def force(kind: str, i: int) -> Any:
        def change(forces: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
            forces[kind][i] *= 1 + 1e-9
            return forces

        return change

    assert findings() == ""
    loaded = int(np.argmax(a_step(recording)["forces"]["normal"]))
    assert "momentum" in findings(forces=force("normal", loaded))
    assert "momentum" in findings(v=lambda v: v + np.eye(len(v))[0] * 1e-9)
    modes = a_step(recording)["modes"]
    slides, sticks = modes.index("slide"), modes.index("stick")
    assert f"contact {slides} is recorded as stick" in findings(modes=lambda m: [*m[:slides], "stick", *m[slides + 1 :]])
    assert f"contact {sticks} is recorded as open" in findings(modes=lambda m: [*m[:sticks], "open", *m[sticks + 1 :]])
    dropped = findings(modes=lambda m: m[:-1], forces=lambda p: {k: x[:-1] for k, x in p.items()})
    assert "7 contacts are recorded, the problem has 8" in dropped


def fnv(data: bytes) -> int:
    hash_ = 0xCBF29CE484222325
    for byte in data:
        hash_ = (hash_ ^ byte) * 0x100000001B3 % 2**64
    return hash_


def test_a_tampered_file_is_found(recording: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A velocity changed in the file itself, with all sums put right."""
    data = recording.read_bytes()
    out, at = bytearray(data[:12]), 12
    target = struct.pack("<d", float(a_step(recording)["v"][0]))
    while at < len(data):
        tag, (_, packed, _) = data[at : at + 1], struct.unpack("<QQQ", data[at + 1 : at + 25])
        body = bytearray(zlib.decompress(data[at + 25 : at + 25 + packed]))
        at += 25 + packed
        where = body.find(target)
        if where >= 0:
            body[where] ^= 0x80
        again = zlib.compress(bytes(body))
        sizes = struct.pack("<QQ", len(body), len(again))
        out += tag + sizes + struct.pack("<Q", fnv(again) ^ fnv(tag + sizes)) + again
    file = tmp_path / "tampered.rec"
    file.write_bytes(out)
    assert main([str(file)]) == 1
    printed = capsys.readouterr().out
    assert "NOT what it says" in printed
    assert "step 20" in printed
    cut = tmp_path / "cut.rec"
    cut.write_bytes(data[:-10])
    assert main([str(cut)]) == 1
    assert "not whole" in capsys.readouterr().out


