#!/usr/bin/env bash
# on_device.sh SCRIPT HEADROOM: the dry run of calibrate/on-device without any network. Every family of probes must have
# left samples, the fit must read them back, and the checksums must hold. Before it, what the script says and keeps of parts
# that are cut, hang, are refused or interrupted, by a program that does so.
set -euo pipefail
script=$1 headroom=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "error: $*"; cat "$work"/out/on-device.toml "$work"/said 2> /dev/null || true; exit 1; }

mkdir "$work/smi" "$work/short"
cat > "$work/program" << 'END'
#!/usr/bin/env bash
[ "$1" = calibrate ] || exit 0
samples=$3
case $* in
  *"--only memory "*) printf 'error: no "memory" in C:\\x\ty\n'; exit 2 ;;
esac
mkdir -p "$samples"
[ -e "$samples/samples.csv" ] || echo probe > "$samples/samples.csv"
echo "${*//$'\n'/ }" >> "$samples/samples.csv"
case $* in
  *"--only gemm "*)
    trap 'echo SIGINT >> "$samples/signals"' INT
    for ((i = 0; i < 300; ++i)); do sleep 0.1; [ ! -e "$samples/signals" ] || { sleep 0.3; exit 130; }; done ;;
  *"--only attention "*) trap '' INT; exec sleep 30 ;;
esac
END
cat > "$work/smi/nvidia-smi" << 'END'
#!/bin/sh
cat << 'XML'
<gpu id="00000000:17:00.0">
<product_name>NVIDIA H100 80GB HBM3</product_name>
<serial>1650000000017</serial>
<uuid>GPU-17171717</uuid>
<board_id>0x1700</board_id>
<pci_bus>17</pci_bus>
<pci_device>17</pci_device>
<pci_domain>0017</pci_domain>
<pci_device_id>233010DE</pci_device_id>
<pci_bus_id>00000000:17:00.0</pci_bus_id>
<process_info>
<pid>1717</pid>
<process_name>job-17</process_name>
</process_info>
</gpu>
XML
END
# The real one, with a second in place of what is left of the budget.
cat > "$work/short/timeout" << END
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do options+=("\$1"); shift; done
exec $(command -v timeout) "\${options[@]}" 1 "\${@:2}"
END
chmod +x "$work/program" "$work"/{smi,short}/*
state() { sed -n "/^name = \"$1\"/,/^state/s/^state = //p" "$out/on-device.toml"; }

out=$work/out
PATH=$work/short:$work/smi:$PATH "$script" --headroom "$work/program" -o "$out" --budget 0060 --gpu $'a"b\\\n\tc' \
  > "$work/said" 2>&1 || fail "the run of a program that is cut ended with $?"
[ "$(state gemm)" = '"cut off by its time; its samples so far are kept"' ] || fail "a part that is cut is not named as cut"
[ "$(state attention)" = '"hung and was ended; its samples so far are kept"' ] || fail "a part that hangs is not named"
[ "$(state memory)" = "\"not measured: error: no 'memory' in C:/x y\"" ] || fail "a part that is refused is not named"
[ "$(state nccl)" = '"measured"' ] || fail "the parts after one that is cut are not measured"
[ "$(wc -l < "$out/samples/samples.csv")" = 9 ] || fail "eight parts and not their samples"
grep -q '^budget = 60$' "$out/on-device.toml" || fail "a budget with a leading zero is another one"
grep -q "^fit = \"headroom fit samples --base a'b/  c -o overlay\"$" "$out/on-device.toml" || fail "--gpu is no string of TOML"
grep -q 17 "$out/nvidia-smi.xml" && fail "what tells one board from another is kept"
[ "$(grep -c -e 'HBM3<' -e '>233010DE' "$out/nvidia-smi.xml")" = 2 ] || fail "what tells the SKU is not kept"
rm -r "$out"

# Signals as a terminal sends them, to the script's process group, and as kill does, to the script alone.
for signal in INT:130 TERM:143; do
  set -m  # otherwise a background job ignores SIGINT
  "$script" --headroom "$work/program" -o "$out" > "$work/said" 2>&1 &
  set +m
  for ((i = 0; i < 200; ++i)); do ! grep -q gemm "$out/samples/samples.csv" 2> /dev/null || break; sleep 0.1; done
  case $signal in INT*) kill -INT -- -$! ;; *) kill -TERM $! ;; esac
  code=0
  wait $! || code=$?
  [ "$code" = "${signal#*:}" ] || fail "$signal ended with $code"
  [ "$(state gemm)" = '"cut off by a signal; its samples so far are kept"' ] || fail "$signal: the part is not named as cut"
  [ "$(state nccl)" = '"not measured: interrupted before it"' ] || fail "$signal: the next parts are not named"
  [ "$(wc -l < "$out/samples/signals")" = 1 ] || fail "$signal: the program is signalled more than once"
  (cd "$out" && sha256sum --quiet -c SHA256SUMS) || fail "$signal: a checksum does not hold"
  rm -r "$out"
done

printf '#!/bin/sh\necho "error: no device" >&2\nexit 3\n' > "$work/program"
"$script" --headroom "$work/program" -o "$out" > "$work/said" 2>&1 && fail "a run that measured nothing succeeded"
grep -q 'no device' "$work/said" || fail "why nothing was measured is not said"
[ ! -e "$out" ] || fail "a failed start leaves a folder that refuses the next"

without_network=(unshare -n)
"${without_network[@]}" true 2> /dev/null || without_network=(unshare -rn)
if ! "${without_network[@]}" true 2> /dev/null; then
  echo "Skipped: no network namespace can be made here (unshare -n)"
  exit 0
fi

(cd "$work" && env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$work" "${without_network[@]}" \
  "$script" --dry-run --headroom "$headroom" -o out > said 2>&1) || fail "the dry run ended with $?"
for file in gemm gemm_sustained copy launch attention_training attention_decode memory transfer nccl layers unit samples; do
  [ "$(wc -l < "$out/samples/$file.csv")" -gt 1 ] || fail "$file.csv holds no samples"
done
for type in bfloat16 float16 tf32 fp8 int8 float32; do
  grep -q ",$type," "$out/samples/gemm.csv" || fail "no product in $type"
done
for op in memcpy copy triad; do grep -q "^$op," "$out/samples/copy.csv" || fail "no $op"; done
for op in read write strided gather reduce chain fused; do grep -q "^$op," "$out/samples/memory.csv" || fail "no $op"; done
for op in stream stream_host graph sync replay rate; do grep -q "^$op," "$out/samples/launch.csv" || fail "no $op"; done
for op in stride offset random banks diverge occupancy grid_sync atomics; do
  grep -q "^$op," "$out/samples/unit.csv" || fail "no $op"
done
for op in all_reduce all_gather reduce_scatter broadcast reduce alltoall sendrecv; do
  grep -q ",$op," "$out/samples/nccl.csv" || fail "no $op"
done
passes=$(grep -c '^\(dense\|experts\)_\(forward\|backward\),8192,' "$out/samples/layers.csv" || true)
decodes=$(grep -c '^\(dense\|experts\)_decode,' "$out/samples/layers.csv" || true)
[ "$passes" = 4 ] && [ "$decodes" = 4 ] || fail "$passes passes of layers and $decodes decode iterations, not four of each"
[ "$(grep -c '^state = "measured"' "$out/on-device.toml")" = 9 ] || fail "not all nine parts were measured"
for key in date command headroom 'name' driver sm_clock_max power_limit; do
  grep -q "^$key = " "$out/on-device.toml" || fail "the manifest has no $key"
done
grep -q 'layer experts_backward 8192' "$out/parts/fit.txt" || fail "the fit does not tell the layers"
grep -q 'unit diverge 32 .* by the formula' "$out/parts/fit.txt" || fail "the fit does not tell the habits of an SM"
[ -s "$out/overlay/curves/h200-sxm-141gb.toml" ] || fail "the fit wrote no curves"
"$headroom" calibrate --compare "$out/samples" "$out/samples" > "$work/said" || fail "the samples are not read back"
(cd "$out" && sha256sum --quiet -c SHA256SUMS) || fail "a checksum does not hold"

# A budget that is spent is said of every part that it leaves out, and nothing is replaced.
"$script" --dry-run --headroom "$headroom" -o "$out" > "$work/said" 2>&1 && fail "a folder was replaced"
grep -q "exists; choose another folder" "$work/said" || fail "the refusal does not say why"
"$script" --dry-run --headroom "$headroom" -o "$work/brief" --budget 60 > "$work/said" 2>&1 || fail "a short run failed"
grep -q 'budget' "$work/brief/parts/gemm.txt" || fail "what 18 s leave of the products is not named"
echo "four passes of layers, four decode iterations and every family of probes, without a network"
