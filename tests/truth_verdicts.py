# SPDX-License-Identifier: Apache-2.0
"""CPU or GPU: the verdict of every pair of measured rows of the same work, one on cores and one on GPUs.

The rule, which kind classic prints too (close_calls in scenarios/classic/classic_plan.hpp): the model's middle says which
is faster, unless the middle of each lies within the interval of the other, which is too close to call. Of the pairs
that are called 95 % must be right; those too close are told apart, and are wrong for a test where they are most.

A pair is of one work where both rows have one workload, library, size and metric: boosted trees of a library and a
number of rows, k-means of one small problem, a recommender's requests of one batch. A rate is a time turned over.
"""

import csv
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

BAR = 0.95
MOST_TOO_CLOSE = 1 / 3


def work_of(row):
    config, metric = row["config"], row["metric"]
    if row["workload"] == "gbdt_train" and metric == "train_time_s" and "dataset=" not in config:
        library = re.split("[; ]", config)[0]
        size = re.search(r"rows=(\w+)", config)
        return size and ("trees", "h2o" if library.startswith("h2o") else library, size.group(1))
    if row["workload"] == "kmeans" and config.startswith("one small image"):
        return ("kmeans", "small image", "")
    if row["workload"] == "dlrm_infer" and metric == "samples_per_s" and re.search("HPS|TorchScript", config):
        batch = re.search(r"batch=(\d+)", config)
        return "DCN" not in config and "FP32" in config and ("dlrm", "requests", batch.group(1))
    return None


def on_cores(row):
    return "sklearn CPU" in row["config"] or ("CPU" in row["hardware"] and "TITAN" not in row["hardware"])


def answered_rows(binary, file):
    """Each measured row with its answer; none where their numbers differ."""
    told = subprocess.run([binary, "validate", str(file), "--format", "csv"], capture_output=True, text=True, check=False)
    answers = list(csv.DictReader(StringIO(told.stdout)))
    rows = list(csv.DictReader(file.open(encoding="utf-8")))
    if len(answers) != len(rows):
        print(f"{len(answers)} answers to {len(rows)} rows")
        return []
    return list(zip(rows, answers))


def main():
    binary, file = sys.argv[1], Path(sys.argv[2]) / "other_workloads.csv"
    if not file.is_file():
        print(f"Skipped: no measured rows at {sys.argv[2]}")
        return 0
    works = {}
    for row, answer in answered_rows(binary, file):
        work = work_of(row)
        if not work or answer["status"] != "ok":
            continue
        measured, middle = float(row["value"]), float(answer["predicted"])
        low, high = float(answer["low"]), float(answer["high"])
        if row["metric"].endswith("_per_s"):
            measured, middle, low, high = 1 / measured, 1 / middle, 1 / high, 1 / low
        works.setdefault(work, ([], []))[on_cores(row)].append((measured, middle, low, high))
    right, wrong, close = 0, [], 0
    for work, (gpus, cpus) in sorted(works.items()):
        for g in gpus:
            for c in cpus:
                if g[0] == c[0]:
                    continue
                if c[2] <= g[1] <= c[3] and g[2] <= c[1] <= g[3]:
                    close += 1
                elif (g[1] < c[1]) == (g[0] < c[0]):
                    right += 1
                else:
                    wrong.append(f"{work}: GPU {g[0]:g} s, cores {c[0]:g} s, predicted {g[1]:.3g} and {c[1]:.3g} s")
    pairs = right + len(wrong) + close
    if not pairs:
        print("no pair of rows is of one work")
        return 1
    print(f"{pairs} pairs: {right} right, {len(wrong)} wrong, {close} too close to call")
    print("\n".join(wrong))
    share = right / max(1, right + len(wrong))
    print(f"{100 * share:.1f} % of those called are right, {100 * BAR:.0f} % are asked for")
    return 0 if share >= BAR and close <= MOST_TOO_CLOSE * pairs else 1


if __name__ == "__main__":
    sys.exit(main())
