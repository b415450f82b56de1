#!/usr/bin/env bash
# on_device.sh SCRIPT HEADROOM: the dry run of calibrate/on-device without any network. Every family of probes must have
# left samples, the fit must read them back, and the checksums must hold.
set -euo pipefail
script=$1 headroom=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
without_network=(unshare -n)
"${without_network[@]}" true 2> /dev/null || without_network=(unshare -rn)
if ! "${without_network[@]}" true 2> /dev/null; then
  echo "Skipped: no network namespace can be made here (unshare -n)"
  exit 0
fi
fail() { echo "error: $*"; cat "$work"/out/on-device.toml "$work"/said 2> /dev/null || true; exit 1; }

(cd "$work" && env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$work" "${without_network[@]}" \
  "$script" --dry-run --headroom "$headroom" -o out > said 2>&1) || fail "the dry run ended with $?"
out=$work/out
for file in gemm gemm_sustained copy launch attention_training attention_decode memory transfer nccl layers samples; do
  [ "$(wc -l < "$out/samples/$file.csv")" -gt 1 ] || fail "$file.csv holds no samples"
done
for type in bfloat16 float16 tf32 fp8 int8 float32; do
  grep -q ",$type," "$out/samples/gemm.csv" || fail "no product in $type"
done
for op in memcpy copy triad; do grep -q "^$op," "$out/samples/copy.csv" || fail "no $op"; done
for op in read write strided gather reduce chain fused; do grep -q "^$op," "$out/samples/memory.csv" || fail "no $op"; done
for op in stream stream_host graph sync replay rate; do grep -q "^$op," "$out/samples/launch.csv" || fail "no $op"; done
for op in all_reduce all_gather reduce_scatter broadcast reduce alltoall sendrecv; do
  grep -q ",$op," "$out/samples/nccl.csv" || fail "no $op"
done
passes=$(grep -c '^\(dense\|experts\)_\(forward\|backward\),8192,' "$out/samples/layers.csv")
decodes=$(grep -c '^\(dense\|experts\)_decode,' "$out/samples/layers.csv")
[ "$passes" = 4 ] && [ "$decodes" = 4 ] || fail "$passes passes of layers and $decodes decode iterations, not four of each"
[ "$(grep -c '^state = "measured"' "$out/on-device.toml")" = 8 ] || fail "not all eight parts were measured"
for key in date command headroom 'name' driver sm_clock_max power_limit; do
  grep -q "^$key = " "$out/on-device.toml" || fail "the manifest has no $key"
done
grep -q 'layer experts_backward 8192' "$out/parts/fit.txt" || fail "the fit does not tell the layers"
[ -s "$out/overlay/curves/h200-sxm-141gb.toml" ] || fail "the fit wrote no curves"
"$headroom" calibrate --compare "$out/samples" "$out/samples" > "$work/said" || fail "the samples are not read back"
(cd "$out" && sha256sum --quiet -c SHA256SUMS) || fail "a checksum does not hold"

# A budget that is spent is said of every part that it leaves out, and nothing is replaced.
"$script" --dry-run --headroom "$headroom" -o "$out" > "$work/said" 2>&1 && fail "a folder was replaced"
grep -q "exists; choose another folder" "$work/said" || fail "the refusal does not say why"
"$script" --dry-run --headroom "$headroom" -o "$work/short" --budget 60 > "$work/said" 2>&1 || fail "a short run failed"
grep -q 'budget' "$work/short/parts/gemm.txt" || fail "what 18 s leave of the products is not named"
echo "four passes of layers, four decode iterations and every family of probes, without a network"
