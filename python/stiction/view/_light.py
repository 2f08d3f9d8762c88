"""The certificate of the current step as a light with its number, always in sight: at the top of the panel, and in its title."""

from __future__ import annotations

from html import escape
from typing import Any

from ._frame import Frame

__all__ = ["Light"]

#: Colour, sign in the panel's title and words by verdict.
_LOOKS = {
    "certified": ("#2b8a3e", "✓", "certified"),
    "accepted": ("#e8590c", "△", "accepted, not certified"),
    "failed": ("#c92a2a", "✗", "stopped"),
    "": ("#868e96", "○", "no step yet"),
}


class Light:
    """The light.

    Parameters
    ----------
    server
        Of viser.
    """

    def __init__(self, server: Any) -> None:
        self._server = server
        self._html = server.gui.add_html("")
        self._label = ""

    def show(self, frame: Frame, *, pace: float | None, active: int, busy: float = 0.0) -> None:
        """Show the verdict of a frame, its time, and what it came to; and for how long (s) the next step has been under way, if it is."""
        color, sign, words = _LOOKS[frame.verdict]
        number = "" if frame.certificate is None or frame.verdict == "failed" else f"{frame.certificate:.1e}"
        bound = f" ≤ {frame.tolerance:.0e}" if number and frame.verdict == "certified" else ""
        rate = f" · next step: {busy:.1f} s" if busy > 0.0 else "" if pace is None else f" · {pace:.2g}×"
        why = f"<div style='color:{color};padding-top:4px'>{escape(frame.why)}</div>" if frame.why else ""
        self._html.content = (
            "<div id='stiction-light' style='font-size:13px;line-height:1.5;padding:2px 10px 6px 10px'>"
            f"<div style='display:flex;align-items:center;gap:8px'><span style='width:13px;height:13px;border-radius:50%;background:{color};"
            f"box-shadow:0 0 7px {color}'></span><b>{words}</b><span style='font-variant-numeric:tabular-nums'>{number}{bound}</span></div>"
            f"<div style='color:#868e96;font-variant-numeric:tabular-nums'>t = {frame.t:.3f} s · step {frame.step} · {active} contacts{rate}</div>{why}</div>"
        )
        label = f"{sign} {words} {number}".strip()
        if label != self._label:
            self._label = label
            self._server.gui.set_panel_label(label)
