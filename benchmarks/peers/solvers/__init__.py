"""One module per solver of problems alone. Each has `SETTINGS`, the names of what it is run with, and `prepare(problem, setting, tolerance)`.

What is prepared is a call without arguments that solves the problem from the start, and returns impulses or z; None where the
solver says that it has no answer. `TOLERANCES` are those it is asked for. `GROUPS` are the kinds of problem that it takes.
"""

#: Name of the solver, and its module here.
NAMES = {
    "Stiction": "stiction_solver",
    "Pinocchio": "pinocchio_solver",
    "quantecon": "quantecon_solver",
    "Siconos": "siconos_solver",
}
