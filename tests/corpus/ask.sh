#!/usr/bin/env bash
# The answers of a binary to a corpus of questions: ask.sh BINARY FOLDER
#
# Asks every question of questions.txt and 100 more that are drawn with a fixed seed, from the root of the repository, and
# writes FOLDER/NUMBER.txt: the command, its exit code, what it printed, and what it said on stderr but the times that a
# search took. `diff -r BEFORE AFTER` tells which answers a change of the code has changed.
set -eu
binary=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."
export HEADROOM_DATA_DIR= XDG_CONFIG_HOME="$folder/none"

seed=20240901
# draw WORD...: one of the words, in $drawn.
draw() {
  seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
  local at=$(((seed >> 12) % $# + 1))
  drawn=${!at}
}

random_question() {
  draw train train serve serve traffic network memory search
  local kind=$drawn q
  draw h100-sxm-80gb a100-sxm-80gb h200-sxm-141gb b200-sxm-180gb
  q="plan --gpu $drawn --format json"
  case $kind in
    train | memory | search)
      draw llama3-8b llama3-70b gpt3-175b mixtral-8x7b deepseek-v3 qwen3-30b-a3b llama2-13b gemma2-9b
      q+=" --model $drawn"
      draw 8 16 64 256 1024
      q+=" --gpus $drawn"
      draw 1024 2048 4096 8192
      q+=" --seq-len $drawn"
      draw 128 256 1024 2048
      q+=" --global-batch $drawn"
      if [ $kind = search ]; then
        draw any tp=any pp=any 'micro_batch=1..8 x2'
        printf "%s --search '%s' --threads 1\n" "$q" "$drawn"
        return
      fi
      draw 1 2 4 8
      q+=" --tp $drawn"
      draw 1 1 2 4 8
      q+=" --pp $drawn"
      draw 1 1 2
      q+=" --micro-batch $drawn"
      draw none selective full
      q+=" --recompute $drawn"
      draw 1 1 3
      q+=" --zero $drawn"
      draw bf16 bf16 fp8
      q+=" --precision $drawn"
      draw '' '' ' --tokens 1e12' ' --set training.software=torchtitan' ' --set training.software=megatron-bridge' ' --set strategy.cp=2'
      q+=$drawn
      [ $kind = train ] || q+=' --only memory'
      ;;
    serve | traffic)
      draw llama3-8b llama3-70b mixtral-8x7b deepseek-v3 qwen3-30b-a3b gpt-oss-120b qwen2.5-32b
      q+=" --model $drawn"
      draw 8 16 32
      q+=" --gpus $drawn"
      draw 1 2 4 8
      q+=" --tp $drawn"
      draw 128 1024 4096
      q+=" --isl $drawn"
      draw 128 512 1024
      q+=" --osl $drawn"
      draw vllm tensorrt-llm sglang
      q+=" --engine $drawn"
      if [ $kind = traffic ]; then
        q=${q/--gpus [0-9]*[0-9] /}
        q=${q/--gpus 8 /}
        draw 2 10 50
        q+=" --rate '$drawn req/s' --set 'slo.ttft_p95=2 s' --set traffic.requests=2000 --threads 1"
      else
        draw 1 16 64 256
        q+=" --concurrency $drawn"
        draw '' '' ' --weights fp8' ' --only memory'
        q+=$drawn
      fi
      ;;
    network)
      draw resnet-50 perception-2b
      q+=" --model $drawn"
      draw 1 8 64
      q+=" --gpus $drawn"
      draw 256 1024 4096
      q+=" --global-batch $drawn"
      ;;
  esac
  printf '%s\n' "$q"
}

number=0
ask() {
  number=$((number + 1))
  local out
  out=$folder/$(printf '%03d' $number).txt
  local rc=0
  eval "\"$binary\" $1" > "$folder/out" 2> "$folder/err" < /dev/null || rc=$?
  {
    printf '$ headroom %s\nexit code %s\n' "$1" "$rc"
    cat "$folder/out"
    sed 's/^/stderr: /; /^stderr: searched /d' "$folder/err"
  } > "$out"
}

while IFS= read -r question; do
  case $question in '' | '#'*) continue ;; esac
  ask "$question"
done < tests/corpus/questions.txt
for ((i = 0; i < 100; ++i)); do
  ask "$(random_question)"
done
rm -f "$folder/out" "$folder/err"
echo "$number questions"
