# SPDX-License-Identifier: Apache-2.0
"""What the way through Python adds to a plan: PYTHONPATH=build/release/python python3 bench/python_bench.py [--most US]

Each call measures both times at once: its own from outside, and the library's within it, from the keywords to the answer. The
difference is what Python adds: reading the keywords, the answer's object, the interpreter's lock. Of many calls the fastest tenth
tells it, for calls that the machine interrupts say nothing of either; the median stands beside it. The exit code is 1 above
`--most` microseconds.
"""
import argparse
import gc
import statistics
import sys
import time

import headroom as hr

QUESTIONS = {
    "memory of a training": dict(
        model="llama3-70b", gpu="h100-sxm-80gb", gpus=512, tp=8, pp=4, seq_len=8192, global_batch=1024, only="memory"),
    "a training plan": dict(model="llama3-70b", gpu="h100-sxm-80gb", gpus=512, tp=8, pp=4, seq_len=8192, global_batch=1024),
    "a serving plan": dict(model="llama3-70b", gpu="h100-sxm-80gb", gpus=8, tp=8, isl=1024, osl=256, concurrency=64),
}


def measured(question, calls):
    added, inside = [], []
    for _ in range(calls):
        start = time.perf_counter()
        answer = hr.plan(**question)
        outside = time.perf_counter() - start
        inside.append(answer._core.seconds)
        added.append(outside - answer._core.seconds)
        del answer
    return statistics.quantiles(added, n=10)[0], statistics.median(added), statistics.quantiles(inside, n=10)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=float, default=50.0, help="microseconds that may be added")
    parser.add_argument("--calls", type=int, default=101)
    given = parser.parse_args()
    gc.disable()
    failed = False
    for name, question in QUESTIONS.items():
        hr.plan(**question)
        added, middle, inside = measured(question, given.calls)
        failed = failed or added * 1e6 > given.most
        print(f"{name}: {added * 1e6:.1f} us added to {inside * 1e3:.3f} ms, {100 * added / inside:.2f} %; "
              f"median {middle * 1e6:.1f} us")
    print(f"at most {given.most:g} us may be added: {'missed' if failed else 'kept'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
