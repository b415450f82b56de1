#!/usr/bin/env bash
# Builds the wheel twice, checks its record, installs it in a venv without a network and asks it: wheel.sh BUILD CMAKE
# PYTHON WHEEL PROGRAM
set -eu
build=$1
cmake=$2
python=$3
wheel=$4
program=$5
work=$build/wheel-test
rm -rf "$work"
mkdir -p "$work"
fail() { printf '%s\n' "$*"; exit 1; }

make_wheel() { "$cmake" --build "$build" --target wheel > "$work/build.log" 2>&1 || fail "$(tail "$work/build.log")"; }
make_wheel
cp "$wheel" "$work/first.whl"
rm "$wheel"
sleep 2  # as long as an archive's clock ticks
make_wheel
cmp "$work/first.whl" "$wheel" || fail "the same build gives another wheel"

"$python" - "$wheel" <<'PYTHON' || fail "the record is wrong"
import base64, hashlib, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
names = archive.namelist()
info = next(name for name in names if name.endswith("/RECORD")).rsplit("/", 1)[0]
rows = [line.rsplit(",", 2) for line in archive.read(info + "/RECORD").decode().splitlines()]
assert sorted(row[0] for row in rows) == sorted(names), "other members than the record's"
for name, digest, size in rows:
    if name != info + "/RECORD":
        data = archive.read(name)
        wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert (digest, int(size)) == ("sha256=" + wanted, len(data)), name
for name in ("headroom/__init__.py", "headroom/__init__.pyi", "headroom/py.typed", info + "/METADATA", info + "/WHEEL"):
    assert name in names, name
tag = sys.argv[1].rsplit("/", 1)[1].removesuffix(".whl").split("-", 2)[2]
assert f"Tag: {tag}\n" in archive.read(info + "/WHEEL").decode()
PYTHON

"$python" -m venv "$work/venv" > "$work/venv.log" 2>&1 || { echo "Skipped: no venv ($(tail -n 1 "$work/venv.log"))"; exit 0; }
start=$SECONDS
"$work/venv/bin/pip" install --no-index --disable-pip-version-check "$wheel" > "$work/pip.log" 2>&1 || fail "$(tail "$work/pip.log")"
took=$((SECONDS - start))
[ $took -lt 60 ] || fail "the installation takes $took s"
cd "$work"
env -u PYTHONPATH venv/bin/python -c '
import headroom as hr
plan = hr.plan(model="llama3-70b", gpu="h100-sxm-80gb", gpus=512, tp=8, pp=4, seq_len=8192, global_batch=1024)
assert plan.good and plan.step_time.low < plan.step_time < plan.step_time.high
print(plan.to_json(), end="")' > plan.json || fail "no plan from the venv"
"$program" plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --tp 8 --pp 4 --seq-len 8192 --global-batch 1024 \
  --format json | cmp - plan.json || fail "the wheel answers another plan than the program"
"$work/venv/bin/pip" uninstall --yes --disable-pip-version-check headroom > "$work/pip.log" 2>&1 || fail "$(tail "$work/pip.log")"
[ -z "$(find venv -ipath '*site-packages/headroom*')" ] || fail "what is uninstalled leaves files"
echo "installed in $took s, $(stat -c %s "$wheel") bytes"
