#!/usr/bin/env bash
# Memory and time of `headroom diagnose` over a trace of a gigabyte: a run that never was, written, read, removed.
# usage: bench/trace.sh path/to/headroom [most MB] [most seconds of a processor]
# With bounds it fails where one is passed.
set -euo pipefail
binary=$(realpath "${1:?path of the headroom binary}")
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$binary" export scenarios/train/llama2-7b-8xa100.toml --to kineto --ranks 1 --steps 126 -o "$folder/rank0.json" \
  > /dev/null
python3 - "$binary" "$folder/rank0.json" "${2:-0}" "${3:-0}" << 'PYTHON'
import os, resource, subprocess, sys, time
binary, trace, megabytes, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
begin = time.monotonic()
subprocess.run([binary, "diagnose", trace, "--format", "json"], check=True, stdout=subprocess.DEVNULL,
               stdin=subprocess.DEVNULL)
wall = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
peak, processor = used.ru_maxrss * 1024 / 1e6, used.ru_utime + used.ru_stime
print(f"a trace of {os.path.getsize(trace) / 1e9:.2f} GB: {peak:.0f} MB at most, {processor:.1f} s of a processor, "
      f"{wall:.1f} s in all")
if (megabytes and peak > megabytes) or (seconds and processor > seconds):
    sys.exit(f"error: more than {megabytes:.0f} MB or {seconds:.0f} s")
PYTHON
