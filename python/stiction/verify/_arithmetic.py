"""Numbers to check with: 60 decimal digits, or fractions.

Both take doubles as the real numbers they are. Decimals are rounded at the 60th digit, so a measure that is exactly 0 may come
out as something like 1e-58; fractions are exact but for square roots, which have 60 digits too. `SLACK` is above both.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

__all__ = ["DIGITS", "SLACK", "Arithmetic", "Decimals", "Fractions", "Number"]

#: Digits of decimals and of square roots.
DIGITS = 60
#: A measure is not known better than this: rounding at the 60th digit, magnified by condition numbers up to 1e20.
SLACK = 1e-35

Number: TypeAlias = Any


class Arithmetic:
    """A kind of number: how doubles become one, and its square roots."""

    zero: Number

    @contextmanager
    def context(self) -> Iterator[None]:
        """Within it numbers are computed with."""
        yield

    def number(self, x: float) -> Number:
        """The double x as it is.

        Parameters
        ----------
        x : float
        """
        raise NotImplementedError

    def root(self, x: Number) -> Number:
        """The square root of x ≥ 0.

        Parameters
        ----------
        x : number
        """
        raise NotImplementedError

    def numbers(self, values: Sequence[float]) -> list[Number]:
        """All of them.

        Parameters
        ----------
        values : sequence of float
        """
        return [self.number(x) for x in values]

    def length(self, values: Sequence[Number]) -> Number:
        """The Euclidean norm.

        Parameters
        ----------
        values : sequence of numbers
        """
        return self.root(sum((x * x for x in values), self.zero))


class Decimals(Arithmetic):
    """60 digits."""

    zero = Decimal(0)

    @contextmanager
    def context(self) -> Iterator[None]:
        """60 digits, and exponents beyond those of doubles."""
        with decimal.localcontext() as context:
            context.prec = DIGITS
            yield

    def number(self, x: float) -> Decimal:
        """The double x as it is."""
        return Decimal(x)

    def root(self, x: Decimal) -> Decimal:
        """The square root, to 60 digits."""
        return x.sqrt()


class Fractions(Arithmetic):
    """Rational numbers."""

    zero = Fraction(0)

    def number(self, x: float) -> Fraction:
        """The double x as it is."""
        return Fraction(x)

    def root(self, x: Fraction) -> Fraction:
        """The square root, to 60 digits: an integer root of x with its decimal point moved."""
        if x == 0:
            return x
        a, b = x.numerator, x.denominator
        shift = max(0, DIGITS + (b.bit_length() - a.bit_length()) * 302 // 2000 + 1)
        scale = 10**shift
        return Fraction(math.isqrt(a * scale * scale // b), scale)
