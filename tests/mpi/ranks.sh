#!/usr/bin/env bash
# headroom-mpi under mpirun: the bytes of `headroom` with any number of ranks, whoever dies.
# usage: ranks.sh HEADROOM HEADROOM-MPI SOURCE-FOLDER
set -euo pipefail
headroom=$1 several=$2 source=$3
if ! command -v mpirun > /dev/null; then
  echo "Skipped: no mpirun"
  exit 0
fi
# Debian's CI containers run as root, on fewer cores than ranks.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm=isolated  # one host: else mpirun asks for ssh, which a container may not have
unset HEADROOM_DATA_DIR XDG_CONFIG_HOME
work=$(mktemp -d)
export HOME=$work
cleanup() {
  local pid
  for pid in $(started_ranks 2> /dev/null) ${mpirun_pid:-}; do
    kill -9 "$pid" 2> /dev/null || true
  done
  rm -rf "$work"
}
trap cleanup EXIT
cd "$work"
sweep=$source/tests/mpi/sweep.toml

fail() {
  echo "FAILED: $*" >&2
  for file in err out; do
    [ -e "$file" ] && { echo "--- $file" >&2; head -c 2000 "$file" >&2; }
  done
  exit 1
}

run_ranks() {  # RANKS ARGUMENTS...: waits
  local ranks=$1
  shift
  mpirun --enable-recovery --oversubscribe -n "$ranks" "$several" "$@" > out 2> err
}

start_ranks() {  # RANKS [MPIRUN OPTIONS] -- ARGUMENTS...: in the background
  local ranks=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  mpirun "${options[@]}" --oversubscribe -n "$ranks" "$several" "$@" > out 2> err &
  mpirun_pid=$!
}

started_ranks() { [ -n "${mpirun_pid:-}" ] && pgrep -P "$mpirun_pid"; }

pid_of_rank() {  # RANK
  local pid
  for pid in $(started_ranks); do
    if tr '\0' '\n' < "/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1"; then
      echo "$pid"
      return
    fi
  done
}

wait_for_plans() {  # the checkpoint holds jobs that are done and the search goes on
  local tries=0
  until grep -q '^plan' checkpoint 2> /dev/null; do
    sleep 0.02
    tries=$((tries + 1))
    [ "$tries" -lt 3000 ] || fail "no checkpoint"
  done
}

same_as_alone() {  # FILE WHAT
  cmp -s "$1" alone || fail "$2: not the bytes of one process alone"
}

"$headroom" plan "$sweep" --format json > alone 2> /dev/null || fail "alone"
grep -q '"complete": true' alone || fail "alone: not complete"

for ranks in 1 2 3; do
  run_ranks "$ranks" plan "$sweep" --threads 1 --format json || fail "$ranks ranks"
  same_as_alone out "$ranks ranks"
done
grep -q 'on 3 ranks' err || fail "stderr does not say how many ranks searched"

echo "-- a rank is killed"
for ranks in 2 3; do
  rm -f checkpoint
  start_ranks "$ranks" --enable-recovery -- plan "$sweep" --threads 1 --format json --checkpoint checkpoint
  wait_for_plans
  kill -9 "$(pid_of_rank 1)"
  wait "$mpirun_pid" || fail "a rank of $ranks killed: exit code $?"
  same_as_alone out "a rank of $ranks killed"
  grep -q 'rank 1 on .* was lost; what it had is given to others' err || fail "the rank lost is not told of"
done

echo "-- all but rank 0 are killed"
rm -f checkpoint
start_ranks 3 --enable-recovery -- plan "$sweep" --threads 1 --format json --checkpoint checkpoint
wait_for_plans
kill -9 "$(pid_of_rank 1)" "$(pid_of_rank 2)"
wait "$mpirun_pid" || fail "all others killed: exit code $?"
same_as_alone out "all others killed"

echo "-- rank 0 is killed: the others leave, and the checkpoint goes on, alone or on ranks"
for next in alone ranks; do
  rm -f checkpoint
  start_ranks 2 --enable-recovery -- plan "$sweep" --threads 1 --format json --checkpoint checkpoint
  wait_for_plans
  kill -9 "$(pid_of_rank 0)"
  wait "$mpirun_pid" || true  # mpirun that lets ranks die answers 0
  grep -q 'rank 0 is gone' err || fail "rank 0 killed: not told of"
  [ -s out ] && fail "rank 0 killed: half an answer"
  if [ "$next" = alone ]; then
    "$headroom" plan "$sweep" --format json --checkpoint checkpoint > out 2> err || fail "going on alone"
  else
    run_ranks 2 plan "$sweep" --threads 1 --format json --checkpoint checkpoint || fail "going on on ranks"
  fi
  same_as_alone out "going on: $next"
  grep -q 'resumed from the checkpoint' err || fail "going on: $next: nothing was resumed"
done

echo "-- without recovery mpirun ends the job: the checkpoint goes on"
rm -f checkpoint
start_ranks 2 -- plan "$sweep" --threads 1 --format json --checkpoint checkpoint
wait_for_plans
kill -9 "$(pid_of_rank 1)"
wait "$mpirun_pid" && fail "without recovery: exit code 0"
grep -q 'mpirun --enable-recovery' err || fail "without recovery: not told of"
run_ranks 2 plan "$sweep" --threads 1 --format json --checkpoint checkpoint || fail "after no recovery"
same_as_alone out "after no recovery"

echo "-- SIGTERM to rank 0: what was found, marked as partial"
rm -f checkpoint
start_ranks 2 --enable-recovery -- plan "$sweep" --threads 1 --checkpoint checkpoint
wait_for_plans
kill -TERM "$(pid_of_rank 0)"
code=0
wait "$mpirun_pid" || code=$?  # that of rank 0, or 0 from an mpirun that lets ranks die
[ "$code" = 0 ] || [ "$code" = 143 ] || fail "SIGTERM: exit code $code"
head -n 1 out | grep -q '^PARTIAL' || fail "SIGTERM: no partial answer"

echo "-- what is wrong is said once"
mpirun --oversubscribe -n 2 "$several" plan "$sweep" --set hardware.gpu=h100 > out 2> err && fail "bad input: exit code 0"
[ "$(grep -c 'error: ' err)" = 1 ] || fail "bad input: not said once"
echo "ranks: passed"
