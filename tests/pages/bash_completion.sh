#!/usr/bin/env bash
# What bash offers at the end of a line: bash_completion.sh BINARY COMPLETION
set -u
binary=$1
completion=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
mkdir runs
touch a.toml b.toml "with space.toml" rows.csv config.json notes.txt

# complete is what readline calls; here it is told where the line's last word is.
source "$completion"
failures=0

# offers WORDS... -- EXPECTED...: at the end of "headroom WORDS...", in any order.
offers() {
  local words=() got expected
  while [ "$1" != -- ]; do
    words+=("$1")
    shift
  done
  shift
  COMP_WORDS=("$binary" "${words[@]}")
  COMP_CWORD=${#words[@]}
  _headroom "$binary"
  got=$(printf '%s\n' "${COMPREPLY[@]+"${COMPREPLY[@]}"}" | sort)
  expected=$(printf '%s\n' "$@" | sort)
  if [ "$got" != "$expected" ]; then
    printf 'headroom %s\n  offers   %s\n  expected %s\n' "${words[*]}" "${got//$'\n'/ }" "${expected//$'\n'/ }"
    failures=$((failures + 1))
  fi
}

offers pl -- plan
offers ex -- explain export
offers --v -- --version
offers plan --form -- --format
offers plan --format '' -- text json html csv
offers plan --format = j -- json
offers plan --format = -- text json html csv
offers plan --gpu h200 -- h200-nvl-141gb h200-sxm-141gb
offers plan --cluster dgx-superpod-h -- dgx-superpod-h100
offers plan --node dgx-h1 -- dgx-h100
offers plan --model resnet-5 -- resnet-50
offers plan --model conf -- config.json
offers plan --tp '' --
offers plan --recompute s -- selective
offers plan '' -- a.toml b.toml 'with space.toml' runs
offers plan a.toml '' --
offers plan --set strategy.tp=4 --format json '' -- a.toml b.toml 'with space.toml' runs
offers plan --runs '' -- a.toml b.toml config.json notes.txt rows.csv runs 'with space.toml'
offers plan -o n -- notes.txt
offers compare a.toml b -- b.toml
offers validate r -- rows.csv runs
offers scale --weak '' -- a.toml b.toml 'with space.toml' runs
offers catalog '' -- list show diff lint import
offers catalog list p -- partitions prices
offers catalog show dgx-superpod-h -- dgx-superpod-h100
offers catalog diff h200-sxm-141gb h200-s -- h200-sxm-141gb
offers catalog import c -- config.json
offers catalog lint '' --
offers fabric show dgx-superpod-h -- dgx-superpod-h100
offers op attention-t -- attention-training
offers collective all-r -- all-reduce
offers roofline resnet-5 -- resnet-50
offers probe --output r -- runs
exit $((failures > 0))
