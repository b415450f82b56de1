#!/usr/bin/env bash
# The typed stubs before a type checker: what is right passes, what is wrong is told. stubs.sh PYTHON PACKAGES
# PACKAGES: the folder that holds the package headroom
set -eu
python=$1
packages=$2
fail() { printf '%s\n' "$*"; exit 1; }
"$python" -m mypy --version > /dev/null 2>&1 || { echo "Skipped: no mypy (package mypy)"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check() { (cd "$work" && MYPYPATH=$packages "$python" -m mypy --strict --no-incremental "$@" 2>&1); }

cat > "$work/right.py" <<'PYTHON'
from typing import Any

import headroom as hr

plan = hr.plan(model="llama3-70b", gpu="h100-sxm-80gb", gpus=512, tp=8, pp=4, seq_len=8192, global_batch=1024)
step: float = plan.step_time
low: float = plan.step_time.low
by_path: dict[str, Any] = {"hardware.power_cap": "500 W"}
several = hr.plan(plan, tp=[4, 8], **by_path)
best = hr.search(model="llama3-8b", gpu="h100-sxm-80gb", gpus=8, seq_len="8k", global_batch=64, within=2.0)
document = best.to_dict()
text: str = best.to_json() + best.text(brief=True) + best.html()
PYTHON
check right.py || fail "a right use of the package is refused"

cat > "$work/wrong.py" <<'PYTHON'
import headroom as hr

hr.plan(model="llama3-70b", gpus=[1.5, 2])
hr.plan(3)
hr.no_such_function()
PYTHON
told=$(check wrong.py) && fail "a wrong use of the package passes"
for line in 3 4 5; do
  grep -q "^wrong.py:$line: error: " <<< "$told" || fail "line $line passes: $told"
done
echo ok
