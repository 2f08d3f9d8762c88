"""``python -m stiction``: the command."""

from ._cli import main

main()
