#!/usr/bin/env python3
"""Sizes of the code: lines, constants, public items and factorizations, per crate.

    python3 scripts/counts.py              # the working tree
    python3 scripts/counts.py COMMIT ...   # and some commits, to compare

Lines are those of Rust that are neither blank nor comments, outside tests and the papers' experiments.
Factorizations are those of FACTORIZATIONS: a new one is to be listed there.
"""

import re
import subprocess
import sys
from collections import Counter

CRATES = "crates"
CONSTANT = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?const [A-Z_0-9]+: (\[?)(f64|usize|u\d+|i\d+)\b")
PUBLIC = re.compile(r"^\s*pub (?:const fn|async fn|unsafe fn|fn|struct|enum|trait|const|static|type|mod|union)\b")
# Where a factorization of a matrix of f64 is computed: the end of a path, and what stands there.
FACTORIZATIONS = [
    ("stiction-linalg/src/cholesky.rs", "pub fn factor_columns("),
    ("stiction-linalg/src/cholesky.rs", "fn eliminate(&mut self"),
    ("stiction-linalg/src/branched_cholesky.rs", "pub fn factor("),
    ("stiction-linalg/src/elimination.rs", "pub fn eliminate("),
    ("/lu.rs", "impl Lu "),
    ("/active_qr.rs", "impl ActiveQr"),
    ("/factor.rs", "impl ActiveQr"),
    ("/incremental_factor.rs", "impl IncrementalFactor"),
    ("lemke/kernel.rs", "impl Kernel"),
    ("lemke/tableau.rs", "impl Tableau"),
    ("principal_pivot/transform.rs", "fn invert(block"),
    ("interior_point/vertex.rs", "axpy(-head"),
    ("reduce/choice.rs", "axpy(-head"),
    ("nnls/cholesky.rs", "fn eliminate("),
    ("/classify.rs", "fn eliminate("),
    ("/mass.rs", "pivot.sqrt()"),
    ("/find_indices.rs", "fn cholesky_solve("),
    ("drumwright_shell/newton.rs", "fn cholesky_solve("),
    ("/aba.rs", "fn factor("),
    ("/velocity_products.rs", "pivot.sqrt()"),
    ("mjcf/links.rs", "fn singular_pivot("),
    ("urdf/mobility.rs", "fn singular_pivot("),
    ("projection/newton.rs", "impl Envelope"),
    ("sparse/panel.rs", "pub(super) fn factor<"),
]


def sources(commit):
    """Path and text of every Rust source of the crates, tests and papers left out."""
    if commit is None:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", CRATES], check=True, text=True, capture_output=True
        )
        read = lambda path: open(path, encoding="utf-8").read()
    else:
        listed = subprocess.run(["git", "ls-tree", "-r", "--name-only", commit, CRATES], check=True, text=True, capture_output=True)
        read = lambda path: subprocess.run(["git", "show", f"{commit}:{path}"], check=True, text=True, capture_output=True).stdout
    for path in listed.stdout.split():
        inside = "/src/" in path and path.endswith(".rs")
        if inside and "papers/src/" not in path and "/papers/" not in path and not path.endswith("tests.rs") and "/tests/" not in path:
            try:
                yield path, read(path)
            except FileNotFoundError:  # Deleted, and not yet committed.
                continue


def code(text):
    """The lines that are neither blank, nor comments, nor an item for tests, which rustfmt ends at its own indentation."""
    end = None
    for line in text.splitlines():
        bare = line.strip()
        if end is not None:
            if line == end or (line.startswith(end[:-1]) and line.rstrip().endswith(";") and not inside):
                end = None
            inside = inside or bare.endswith("{")
        elif bare == "#[cfg(test)]":
            end, inside = line.replace("#[cfg(test)]", "}"), False
        elif bare and not bare.startswith("//"):
            yield line


def count(commit):
    total = Counter()
    for path, text in sources(commit):
        crate = path.split("/")[1]
        total["factorizations"] += sum(path.endswith(end) and what in text for end, what in FACTORIZATIONS)
        for line in code(text):
            total["lines"] += 1
            total[f"lines of {crate}"] += 1
            if found := CONSTANT.match(line):
                total["f64 constants" if found[2] == "f64" else "integer constants"] += 1
            total["public items"] += bool(PUBLIC.match(line))
    return total


def main():
    columns = [("working tree", count(None))] + [(c, count(c)) for c in sys.argv[1:]]
    names = sorted({name for _, counts in columns for name in counts})
    print(" " * 40 + "".join(f"{title[:14]:>16}" for title, _ in columns))
    for name in names:
        print(f"{name:40}" + "".join(f"{counts[name]:16}" for _, counts in columns))


if __name__ == "__main__":
    main()
