#!/usr/bin/env bash
# Two ranks against one, by turns, so that a busy machine slows both; one thread each.
# usage: ranks.sh BUILD-FOLDER [TURNS] [SCENARIO.toml]
set -euo pipefail
build=$1 turns=${2:-7} scenario=${3:-$(dirname "$0")/../tests/mpi/sweep.toml}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated
times=$(mktemp -d)
trap 'rm -rf "$times"' EXIT

one_run() {  # NAME COMMAND...: the seconds that the search says it took, without the start of mpirun
  local name=$1
  shift
  "$@" plan "$scenario" --threads 1 --format json > /dev/null 2> "$times/err"
  sed -nE 's/.*strategies in ([0-9.]+) (s|ms) .*/\1 \2/p' "$times/err" | awk '{ print $2 == "ms" ? $1 / 1000 : $1 }' >> "$times/$name"
}

for _ in $(seq "$turns"); do
  one_run alone "$build/cli/headroom"
  one_run one mpirun --enable-recovery -n 1 "$build/cli/headroom-mpi"
  one_run two mpirun --enable-recovery -n 2 "$build/cli/headroom-mpi"
done
echo "load before and after by others: $(cut -d' ' -f1-3 /proc/loadavg); $(nproc) cores; $turns turns"
for name in alone one two; do
  sort -g "$times/$name" | awk -v name="$name" '{ t[NR] = $1; s += $1 }
    END { m = t[int((NR + 1) / 2)]; printf "%-6s least %.2f s, median %.2f s, largest %.2f s (%.0f %% apart)\n", name, t[1], m, t[NR], 100 * (t[NR] / t[1] - 1) }'
done
paste "$times/one" "$times/two" "$times/alone" | awk '{ r[NR] = $1 / $2; a[NR] = $3 / $2 }
  END { n = asort_values(r, NR); asort_values(a, NR)
        printf "two ranks against one: %.2fx (%.2f to %.2f); against the program alone: %.2fx (%.2f to %.2f)\n",
               r[int((NR + 1) / 2)], r[1], r[NR], a[int((NR + 1) / 2)], a[1], a[NR] }
  function asort_values(v, n,   i, j, x) { for (i = 2; i <= n; ++i) { x = v[i]; for (j = i - 1; j > 0 && v[j] > x; --j) v[j + 1] = v[j]; v[j + 1] = x } return n }'
