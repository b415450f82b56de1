# SPDX-License-Identifier: Apache-2.0
"""Executes notebooks cell by cell, as an interpreter does: notebooks.py FOLDER [--at-least N]

No Jupyter is needed. The value of a cell's last expression is shown as a notebook shows it, so that an answer's page is
written too. A notebook with stored outputs, without an assertion or with a cell that fails is told, and the exit code is 1.
"""
import argparse
import ast
import json
import os
import pathlib
import sys
import time
import traceback


def shown(value):
    """What a notebook would draw: the page of an answer, else its text."""
    if value is None:
        return
    drawn = getattr(value, "_repr_html_", None)
    if drawn is None or drawn() is None:
        repr(value)


def executed(source, names, place):
    tree = ast.parse(source, place)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, place, "exec"), names)
    if last is not None:
        shown(eval(compile(last, place, "eval"), names))


def problems_of(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    if not any("assert " in source for source in sources):
        yield "asserts nothing"
    names = {"__name__": "__main__"}
    for number, (cell, source) in enumerate(zip(cells, sources), 1):
        if cell["outputs"] or cell["execution_count"] is not None:
            yield f"cell {number} has a stored output, which ages"
        try:
            executed(source, names, f"{path.name} cell {number}")
        except Exception:
            yield f"cell {number} fails:\n{traceback.format_exc(limit=-3)}"
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--at-least", type=int, default=1)
    given = parser.parse_args()
    notebooks = sorted(given.folder.resolve().glob("*.ipynb"))
    failed = len(notebooks) < given.at_least
    if failed:
        print(f"{given.folder}: {len(notebooks)} notebooks, fewer than {given.at_least}")
    os.chdir(given.folder)
    for path in notebooks:
        start = time.monotonic()
        problems = list(problems_of(path))
        failed = failed or bool(problems)
        print(f"{path.name}: {'; '.join(problems) or 'ok'} ({time.monotonic() - start:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
