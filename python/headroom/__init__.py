# SPDX-License-Identifier: Apache-2.0
"""Headroom: what a GPU workload will need and do, before any GPU is rented.

    import headroom as hr
    answer = hr.plan(model="llama3-70b", gpu="h100-sxm-80gb", gpus=512, tp=8, pp=4, seq_len=8192, global_batch=1024)
    answer.step_time.low, answer.step_time.mid, answer.step_time.high   # seconds

A question is given by keywords, which are those of the command line and of the one table of keys (`hr.keys()`), by the
path or the text of a scenario file, by a dict of its tables, or by an answer whose question is asked again. What is wrong
with it arrives as QuestionError with every fault.
"""
from typing import NamedTuple

from . import _core
from ._answer import Answer
from ._core import Library
from ._errors import Fault, QuestionError
from ._records import Interval, Record

__version__ = _core.version
data_date = _core.data_date

__all__ = [
    "Answer", "Fault", "Interval", "KeyDoc", "Library", "QuestionError", "Record", "catalog", "command", "compare",
    "data_date", "diagnose", "keys", "plan", "scale", "search", "simulate", "validate",
]  # fmt: skip


def _ask(function, scenarios, keys, library):
    if len(scenarios) != 1 or scenarios[0] is not None:
        scenarios = tuple(one._core if isinstance(one, Answer) else one for one in scenarios)
    return Answer(_core.ask(function, scenarios, keys, library))


def plan(scenario=None, /, *, library=None, **keys):
    """Answers a question about a GPU workload: memory, time, money. A list of values for a key that takes one makes several
    questions, which are answered side by side. The keywords stand in the stubs, and `keys()` lists them."""
    return _ask("plan", (scenario,), keys, library)


def search(scenario=None, /, *, library=None, **keys):
    """Searches the best plan: of the axes that `search` or a [search] table frees, else of the whole strategy. Ctrl-C ends
    it, and `within` seconds end it with what was found."""
    return _ask("search", (scenario,), keys, library)


def simulate(scenario=None, /, *, library=None, **keys):
    """Simulates requests as they come on the fleet that a scenario states."""
    return _ask("simulate", (scenario,), keys, library)


def scale(scenario=None, /, *, library=None, **keys):
    """Answers a training plan at a series of GPU counts. `law` and `measured` ask the laws of scaling alone."""
    if scenario is None and ("law" in keys or "measured" in keys):
        return command("scale", **keys)
    return _ask("scale", (scenario,), keys, library)


def compare(*scenarios, library=None, **keys):
    """Holds plans or fleets side by side; the first one is what the others are compared with. `harness` and `pipelines`
    compare measured rows, as the command line does."""
    if "harness" in keys or "pipelines" in keys or "overlay" in keys:
        return command("compare", *scenarios, **keys)
    return _ask("compare", scenarios, keys, library)


def validate(*files, **options):
    """Scores predictions against measured rows: those that ship, or CSV files of yours."""
    return command("validate", *files, **options)


def diagnose(*files, **options):
    """Tells why a run is slow, from its traces, telemetry and logs."""
    return command("diagnose", *files, **options)


def catalog(*words, **options):
    """Lists and shows hardware, prices and models: catalog("list", "gpus"), catalog("show", "h100-sxm-80gb")."""
    return command("catalog", *(words or ("list",)), **options)


def command(verb, /, *words, **options):
    """Asks any verb of the command line: its words, and its options as keywords, `--weight-by` as weight_by."""
    return Answer(_core.command(verb, words, options))


class KeyDoc(NamedTuple):
    """A key of a scenario: what it takes, and what its absence means."""

    path: str  #: "strategy.tp"
    keyword: str  #: "tp"; empty: it goes by its path, or in its table's dict
    type: str  #: as Python annotates it
    docs: str  #: meaning, unit, bounds and default
    kinds: list  #: questions that have it


def keys():
    """All keys of scenarios, from the table that the command line, the schema and the manual are made of."""
    return [KeyDoc(*row) for row in _core.keys()]
