"""Certificates checked by arithmetic of their own: 60 decimal digits or fractions, on the numbers of the problem alone.

``python -m stiction.verify FILE`` checks a recording step by step. ``check_contact`` and ``check_lcp`` give the exact measures
of an answer as ``docs/certificate.md`` defines them; a stated certificate must not be below them.

>>> from stiction import lcp, verify
>>> answer = lcp.solve([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
>>> exact = verify.check_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0], answer.z)
>>> exact.residual <= answer.certificate.residual and exact.backward_error <= answer.certificate.backward_error
True
"""

from __future__ import annotations

from ._arithmetic import SLACK, Arithmetic, Decimals, Fractions
from ._contact import KINDS, Measures, check_contact
from ._lcp import LcpMeasures, check_lcp, gram
from ._recording import Finding, StepCheck, check_recording, check_step

__all__ = [
    "KINDS",
    "SLACK",
    "Arithmetic",
    "Decimals",
    "Finding",
    "Fractions",
    "LcpMeasures",
    "Measures",
    "StepCheck",
    "check_contact",
    "check_lcp",
    "check_recording",
    "check_step",
    "gram",
]
