#!/usr/bin/env bash
# Start-up of the binary: the median of 21 runs of `headroom --version` and of a plan, in milliseconds.
# usage: bench/startup.sh path/to/headroom
set -euo pipefail
binary=${1:?path of the headroom binary}
cd "$(dirname "$0")/.."

median_ms() {
  for _ in $(seq 21); do
    local start end
    start=$(date +%s%N)
    "$@" > /dev/null
    end=$(date +%s%N)
    echo $(((end - start) / 1000))
  done | sort -n | sed -n 11p | awk '{ printf "%.1f ms\n", $1 / 1000 }'
}

printf 'headroom --version: '
median_ms "$binary" --version
printf 'headroom plan (70B on 512 H100): '
median_ms "$binary" plan scenarios/train/llama3-70b-512xh100.toml
printf 'headroom catalog list (every file parsed): '
median_ms "$binary" catalog list
