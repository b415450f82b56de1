# SPDX-License-Identifier: Apache-2.0
"""Public traces through the binary: read whole, parts that sum to the step, busy and idle as another tool has them.

truth_traces.py BINARY FOLDER: FOLDER holds traces of profilers and perf/*.gpu_timeline.csv beside four of them.
"""
import csv
import glob
import json
import os
import subprocess
import sys

# Tables beside traces, by a part of both names: their own names are those of the models.
TABLES = {
    "h100-vit-nsfw": "nsfw",
    "h100-timesformer": "timesformer",
    "h100-bert-small": "bert-small",
    "h100-qwen1.5-0.5b": "Qwen1.5",
}
# Files that are no trace of a GPU's work, and what is said of them.
REFUSED = {
    "cupti-counters": "holds no work of a GPU",
    "rank-without-gpu": "holds no work of a GPU",
}


def asked(binary, file):
    return subprocess.run([binary, "diagnose", file, "--format", "json"], capture_output=True, text=True, check=False)


def main():
    binary, folder = sys.argv[1:3]
    files = sorted(glob.glob(os.path.join(folder, "*.json.gz")))
    if not files:
        print("Skipped: no traces in " + folder)
        return 0
    wrong = []
    for file in files:
        name = os.path.basename(file).removesuffix(".json.gz")
        run = asked(binary, file)
        if name in REFUSED:
            if run.returncode != 2 or REFUSED[name] not in run.stderr + run.stdout:
                wrong.append(f"{name}: not refused as it should be: {run.returncode} {run.stderr[:200]}")
            continue
        if run.returncode != 0:
            wrong.append(f"{name}: {run.returncode} {run.stderr[:200]}")
            continue
        answer = json.loads(run.stdout)
        parts = {part["part"]: part["time_s"] for part in answer["parts"]}
        if abs(sum(parts.values()) / answer["step_s"] - 1.0) > 0.01:
            wrong.append(f"{name}: parts sum to {sum(parts.values())} of {answer['step_s']}")
        if name in TABLES:
            (table,) = glob.glob(os.path.join(folder, "perf", f"*{TABLES[name]}*.gpu_timeline.csv"))
            with open(table, encoding="utf-8") as stream:
                told = {row["type"]: float(row["time ms"]) * 1e-3 for row in csv.DictReader(stream)}
            idle = sum(time for part, time in parts.items() if part.startswith("idle"))
            busy = answer["step_s"] - idle
            for what, ours, theirs in (("busy", busy, told["busy_time"]), ("idle", idle, told["idle_time"])):
                if abs(ours / theirs - 1.0) > 0.01:
                    wrong.append(f"{name}: {what} {ours} s, in the table {theirs} s")
    print("\n".join(wrong) if wrong else f"{len(files)} traces")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
