"""Recordings for Rerun."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import stiction
from stiction._stiction import _main


def test_a_recording_becomes_an_rrd_file(scenes: Path, tmp_path: Path) -> None:
    pytest.importorskip("rerun", reason="needs Rerun's SDK: pip install 'stiction[rerun]'")
    import stiction.rerun

    assert _main(["stiction", "run", str(scenes / "slide.toml"), "--steps", "40", "--record", str(tmp_path / "a.rec")]) == 0
    out = stiction.rerun.log(tmp_path / "a.rec", tmp_path / "a.rrd")
    data = out.read_bytes()
    assert data[:3] == b"RRF" and len(data) > 4000
    for name in (b"world/bodies/cube", b"world/contacts", b"series/certificate", b"series/factorizations"):
        assert name in data, name


def test_without_the_sdk_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import stiction.rerun

    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(ImportError, match=r"pip install 'stiction\[rerun\]'"):
        stiction.rerun.log("a.rec", "a.rrd")
