"""Many random programs, by hand: `python -m tests.simplify.soak 2000 [first seed]` from the root of the project.

Each program is explained; its closed form, its raw form, their NumPy source and the traced program are compared with
the difference quotients of the plain function at five points for every derivative. A line for what is wrong, raises,
is not confirmed or takes long, with the rewrites that took their time; figures at the end.
"""

import collections
import signal
import statistics
import sys
import time
import traceback
import warnings

import gradexplain as gx
from gradexplain.errors import GradexplainError
from gradexplain.simplify import rules, scalar
from tests.simplify.comparing import against_quotients
from tests.simplify.random_programs import function, random_source

LONG, LONG_RULE, HANG = 3.0, 0.5, 120  # seconds


class Clock:
    """The seconds that each rule takes."""

    def __init__(self):
        self.seconds = collections.Counter()

    def timed(self, rule):
        def apply(expr):
            start = time.process_time()
            try:
                return rule.apply(expr)
            finally:
                self.seconds[rule.name] += time.process_time() - start

        return rule._replace(apply=apply)


def order_of(seed):
    return 2 if seed % 4 == 0 else 1


def soaked(seed, clock):
    """What came of a program: a word, the seconds of the explanation, and what there is to say."""
    source = random_source(seed)
    clock.seconds.clear()
    start = time.process_time()
    signal.alarm(HANG)
    try:
        program = function(source, seed)
        explanation = gx.explain(program, order=order_of(seed))
        forms = list(explanation.gradients.values())
        seconds = time.process_time() - start
        if seed % 5 == 0:
            str(explanation), explanation.to_latex()
        compared, wrong = against_quotients(source, program, explanation, seed)
    except GradexplainError as error:
        return "refused", time.process_time() - start, f"{type(error).__name__}: {str(error).splitlines()[0]}"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        own = last.filename.startswith("<random program")
        said = f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})"
        return "own error" if own else "exception", time.process_time() - start, said
    finally:
        signal.alarm(0)
    notes = [note for form in forms for note in form.notes]
    if wrong:
        return "wrong", seconds, wrong[:3]
    if any("confirmed" in note or "no point" in note for note in notes):
        return "unconfirmed", seconds, notes
    return ("compared" if compared else "no point"), seconds, notes


def main(count, first):
    clock = Clock()
    scalar.RULES = tuple(clock.timed(rule) for rule in rules.RULES)
    warnings.simplefilter("error")
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError(f"no end after {HANG} s")))
    words, times, stopped = collections.Counter(), [], 0
    for seed in range(first, first + count):
        word, seconds, said = soaked(seed, clock)
        words[word] += 1
        times.append(seconds)
        slow = {name: round(s, 2) for name, s in clock.seconds.most_common() if s > LONG_RULE}
        stopped += "stopped" in str(said)
        if word not in ("compared", "no point", "own error") or seconds > LONG or said or slow:
            print(f"-- {seed} {word} {seconds:.2f} s {said or ''} {slow or ''}", flush=True)
            if word in ("wrong", "exception", "unconfirmed") or seconds > LONG:
                print(random_source(seed), flush=True)
    ordered = sorted(times)
    print(dict(words), f"stopped rewrites in {stopped}", f"median {statistics.median(times):.2f} s",
          f"p90 {ordered[int(0.9 * len(ordered))]:.2f} s", f"most {ordered[-1]:.2f} s",
          f"over {LONG:g} s: {sum(t > LONG for t in times)}")  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
