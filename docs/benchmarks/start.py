"""How long the command line takes to start: `python docs/benchmarks/start.py`, run by hand.

Each command is run several times in a process of its own; the median is printed, beside the imports that no program
with these dependencies can do without.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Sequence
from time import perf_counter

RUNS = 7
COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "import numpy": ("-c", "import numpy"),
    "import gradexplain": ("-c", "import gradexplain"),
    "import gradexplain, grad": ("-c", "from gradexplain import grad"),
    "import sympy, rich": ("-c", "import sympy, rich"),
    "gradexplain --help": ("-m", "gradexplain", "--help"),
    'gradexplain "x**2"': ("-m", "gradexplain", "x**2"),
}


def seconds(arguments: Sequence[str]) -> float:
    """The median time of a command."""
    times = []
    for _ in range(RUNS):
        start = perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        times.append(perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Prints a line for each command."""
    for title, arguments in COMMANDS.items():
        sys.stdout.write(f"{title:<28}{seconds(arguments):>8.3f} s\n")


if __name__ == "__main__":
    main()
