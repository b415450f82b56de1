#!/bin/bash
# refit.sh TRUTH: fits all numbers of training, serving and power to the measured rows in the folder TRUTH (train_*.csv,
# serve_*.csv), puts them into model/stacks, and writes every page and transcript that states them anew. Two cores take about
# 25 minutes, most of them the build; the fits alone 6 and the page of accuracy 7. What it wrote is read before it is kept:
# git diff. Texts of single refusals (tests/bad_input) and figures in prose stay as they were; the tests name them.
set -euo pipefail
[ -d "${1:-}" ] || { echo "usage: ./run refit FOLDER with train_*.csv and serve_*.csv" >&2; exit 2; }
truth=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
root=$PWD work=$PWD/build/refit binary=$PWD/build/release/cli/headroom

build() { cmake --build --preset release > "$work/build.log" 2>&1 || { tail -n 40 "$work/build.log"; exit 2; }; }

mkdir -p "$work"
[ -f build/release/build.ninja ] || cmake --preset release -DCMAKE_CUDA_ARCHITECTURES=80 > "$work/build.log" 2>&1
build

# Side by side, each into a copy of its own: neither moves the other's tables.
rm -rf "$work/before" "$work/train" "$work/serve"
for copy in before train serve; do
  cp -r model "$work/$copy"
done
cd "$truth"
"$binary" fit train_*.csv --stack all --write "$work/train" > "$work/train.txt" &
training=$!
"$binary" fit serve_*.csv --stack serving --write "$work/serve" > "$work/serve.txt"
wait $training
cd "$work"
for fitted in train serve; do
  (cd $fitted && find stacks -name '*.toml') | while read -r table; do
    cmp -s "$fitted/$table" "before/$table" || { cp "$fitted/$table" "$root/model/$table"; echo "$fitted: $table"; }
  done
done
# Power rests on the load that serving predicts.
cd "$root"
build
(cd "$truth" && "$binary" fit serve_argonne.csv serve_mlenergy.csv --stack power --write "$root/model" > "$work/power.txt")
build

HEADROOM_UPDATE_GOLDEN=1 build/release/tests/test_cli -tc='*transcript*,README shows*,the page of confidence*,the page of published*' \
  > "$work/pages.txt" || tail -n 40 "$work/pages.txt"
files=$(sed -n 's/^Written by `headroom fit --stack all \(.*\) --format markdown`.*/\1/p' docs/accuracy.md)
# shellcheck disable=SC2086  # a list of names
(cd "$truth" && "$binary" fit --stack all $files --format markdown) > "$work/accuracy.md"
cp "$work/accuracy.md" docs/accuracy.md
bash tests/truth_pages.sh "$binary" "$truth" "$root" || true
echo "refit: the fits' reports are build/refit/{train,serve,power}.txt"
