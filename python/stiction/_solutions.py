"""All solutions of a small problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from ._stiction import ContactSolved, Solved

__all__ = ["AllSolutions"]

_S = TypeVar("_S", Solved, ContactSolved)


@dataclass(frozen=True)
class AllSolutions(Generic[_S]):
    """The solutions of a problem, each certified, and whether there are no others. It can be counted, indexed and gone through.

    Attributes
    ----------
    solutions : list of Solved
        Each different from the others.
    complete : bool
        There are no others: none at all is then a proof that there is no solution. False where a singular basis has a solution, which may be
        one of infinitely many, as of a redundant support, or where a solution did not pass its certificate.
    """

    solutions: list[_S]
    complete: bool

    def __len__(self) -> int:
        return len(self.solutions)

    def __iter__(self) -> Iterator[_S]:
        return iter(self.solutions)

    def __getitem__(self, i: int) -> _S:
        return self.solutions[i]
