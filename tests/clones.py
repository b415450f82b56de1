#!/usr/bin/env python3
"""Counts the clone pairs of the product code: pieces of code that stand twice.

    clones.py ROOT [--list] [--folders DIR ...] [--bound N]

A line is a line of C++ or CUDA without its comments, its blanks reduced to one between two words and to none beside
punctuation. Blank lines, #include, #pragma, namespaces and `using` are not lines: they stand in every file. A clone pair is a maximal run of six or more equal lines in two places that do not overlap. A piece that
stands n times is n (n - 1) / 2 pairs. Names and numbers count as they are written. A header and the source of its name
are no pair: a definition repeats its declaration.

--list writes every pair, longest first. --bound N exits with 1 if there are more than N.
"""
import argparse
import os
import re
import sys
from collections import defaultdict

LEAST = 6
FLOORS = ["core", "hardware", "model", "scenarios", "answers", "calibrate", "cli", "python", "include"]
ENDINGS = (".cpp", ".hpp", ".cu", ".cuh", ".h")
# A string or a character as it is, else a comment.
TOKENS = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.S)
EVERYWHERE = re.compile(r"#(include|pragma)|namespace\b|using\b|$")


def code(text):
    """The lines of a file that count: (line number, normalised line)."""
    def strip(match):
        piece = match.group()
        return piece if piece[0] in "\"'" else "\n" * piece.count("\n")

    for number, line in enumerate(TOKENS.sub(strip, text).split("\n"), 1):
        line = re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(line.split()))
        if not EVERYWHERE.match(line):
            yield number, line


def files(root, folders):
    for folder in folders:
        for path, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(names):
                if name.endswith(ENDINGS):
                    yield os.path.join(path, name)


def same_name(a, b):
    return a != b and os.path.splitext(a)[0] == os.path.splitext(b)[0]


def clones(root, folders):
    """(lines, place, place) of every clone pair, longest first."""
    ids, lines, places = {}, [], []
    for path in files(root, folders):
        with open(path, encoding="utf-8") as source:
            for number, line in code(source.read()):
                lines.append(ids.setdefault(line, len(ids)))
                places.append((os.path.relpath(path, root), number))
        lines.append(-len(lines) - 1)  # no run goes from one file into the next
        places.append(None)
    windows = defaultdict(list)
    for start in range(len(lines) - LEAST + 1):
        windows[tuple(lines[start:start + LEAST])].append(start)
    found = []
    for starts in windows.values():
        for at, first in enumerate(starts):
            for second in starts[at + 1:]:
                if first > 0 and lines[first - 1] == lines[second - 1]:
                    continue  # a longer run holds this one
                length = LEAST
                while second + length < len(lines) and lines[first + length] == lines[second + length]:
                    length += 1
                if first + length <= second and not same_name(places[first][0], places[second][0]):
                    found.append((length, places[first], places[second]))
    return sorted(found, key=lambda pair: (-pair[0], pair[1:]))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("root")
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--folders", nargs="+", default=FLOORS)
    arguments.add_argument("--bound", type=int)
    asked = arguments.parse_args()
    found = clones(asked.root, asked.folders)
    if asked.list or (asked.bound is not None and len(found) > asked.bound):
        for length, first, second in found:
            print(f"{length:4} lines: {first[0]}:{first[1]} = {second[0]}:{second[1]}")
    print(f"{len(found)} clone pairs of {LEAST} lines and more, {sum(pair[0] for pair in found)} lines")
    if asked.bound is not None and len(found) > asked.bound:
        sys.exit(f"error: more than {asked.bound} clone pairs: write the code once")


if __name__ == "__main__":
    main()
