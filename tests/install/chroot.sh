#!/usr/bin/env bash
# Packs everything, installs it with apt in a fresh Debian 12, runs it there, and takes it away again: chroot.sh BUILD CMAKE
# Needs root, debootstrap and a mirror (HEADROOM_MIRROR, else debootstrap's own choice).
set -eu
build=$(cd "$1" && pwd)
cmake=$2
work=$build/chroot-test
root=$work/root

skip() { printf 'Skipped: %s\n' "$*"; exit 0; }
fail() {
  printf '%s\n' "$*"
  exit 1
}

[ "$(id -u)" = 0 ] || skip "a fresh root asks for root"
command -v debootstrap > /dev/null || skip "no debootstrap"
rm -rf --one-file-system "$work"
mkdir -p "$work"

inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}

"$(dirname "$cmake")/cpack" --config "$build/CPackConfig.cmake" -B "$work/packages" > "$work/cpack.log" 2>&1 || fail "$(cat "$work/cpack.log")"
debootstrap --variant=minbase bookworm "$root" ${HEADROOM_MIRROR:+"$HEADROOM_MIRROR"} > "$work/debootstrap.log" 2>&1 ||
  skip "no base system could be had: $(tail -n 1 "$work/debootstrap.log")"
# How this machine reaches its mirror, such as a proxy, goes for the chroot's apt too.
apt-config dump | grep -E '^Acquire::([Hh]ttp|Check-)' > "$root/etc/apt/apt.conf.d/99mirror" || true
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/hosts "$root/etc/hosts"
inside apt-get update -q > "$work/apt.log" 2>&1 || fail "$(tail "$work/apt.log")"
inside apt-get install -qy --no-install-recommends man-db >> "$work/apt.log" 2>&1 || fail "$(tail "$work/apt.log")"
list_files() { (cd "$root" && find usr etc var/lib -path var/lib/apt -prune -o -path var/lib/dpkg -prune -o -print | sort); }
list_files > "$work/before"

mkdir "$root/packages"
cp "$work"/packages/headroom_*.deb "$work"/packages/libheadroom-dev_*.deb "$root/packages"
start=$SECONDS
inside sh -c 'apt-get install -qy --no-install-recommends /packages/headroom_*.deb' >> "$work/apt.log" 2>&1 ||
  fail "$(tail "$work/apt.log")"
took=$((SECONDS - start))
[ $took -lt 60 ] || fail "apt takes $took s to install it"
echo "apt installed it in $took s"

echo "installed: $(inside dpkg-query -W headroom)"
inside headroom --version
inside headroom plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --tp 8 --pp 4 --seq-len 8192 --global-batch 1024 \
  > "$work/plan.txt" || fail "plan: exit $?"
sed -n 1,5p "$work/plan.txt"
grep -q '^fits: ' "$work/plan.txt" || fail "no plan"
inside sh -c 'cd /usr/share/doc/headroom/examples && headroom plan scenarios/serve/llama3-70b.toml' > /dev/null || fail "no serving plan"
[ "$(inside man -w headroom)" = /usr/share/man/man1/headroom.1.gz ] || fail "no manual page"
inside man -w headroom-plan > /dev/null || fail "no manual page of a verb"
inside bash -c 'source /usr/share/bash-completion/completions/headroom
  COMP_WORDS=(headroom plan --gpu h200-s) COMP_CWORD=3
  _headroom headroom
  [ "${COMPREPLY[*]}" = h200-sxm-141gb ]' || fail "bash completes no SKU"
status=0
inside sh -c 'cd "$(mktemp -d)" && headroom probe -o samples' > "$work/probe.txt" 2>&1 || status=$?
[ $status = 3 ] || fail "probe without a GPU: exit $status, $(cat "$work/probe.txt")"

# The Python package, by apt for Debian's interpreter, and as a wheel in a venv, where the build has them.
python_deb=$(echo "$work"/packages/python3-headroom_*.deb)
if [ -f "$python_deb" ]; then
  answer='import headroom as hr
plan = hr.plan(model="llama3-70b", gpu="h100-sxm-80gb", gpus=512, tp=8, pp=4, seq_len=8192, global_batch=1024)
assert plan.good
print(plan.to_json(), end="")'
  inside headroom plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --tp 8 --pp 4 --seq-len 8192 --global-batch 1024 \
    --format json > "$work/plan.json" || fail "no plan as JSON"
  cp "$python_deb" "$root/packages"
  inside sh -c 'apt-get install -qy --no-install-recommends /packages/python3-headroom_*.deb' >> "$work/apt.log" 2>&1 ||
    fail "$(tail "$work/apt.log")"
  inside python3 -c "$answer" | cmp - "$work/plan.json" || fail "the Python package answers another plan"
  inside sh -c 'apt-get purge -qy python3-headroom' >> "$work/apt.log" 2>&1 || fail "purge of the Python package"
  "$cmake" --build "$build" --target wheel > "$work/wheel.log" 2>&1 || fail "$(tail "$work/wheel.log")"
  cp "$build"/headroom-*.whl "$root/packages"
  inside apt-get install -qy --no-install-recommends python3-venv >> "$work/apt.log" 2>&1 || fail "$(tail "$work/apt.log")"
  inside python3 -m venv /packages/venv >> "$work/apt.log" 2>&1 || fail "$(tail "$work/apt.log")"
  start=$SECONDS
  inside sh -c '/packages/venv/bin/pip install -q --no-index --disable-pip-version-check /packages/headroom-*.whl' \
    >> "$work/apt.log" 2>&1 || fail "$(tail "$work/apt.log")"
  echo "pip installed the wheel in $((SECONDS - start)) s"
  inside /packages/venv/bin/python -c "$answer" | cmp - "$work/plan.json" || fail "the wheel answers another plan"
fi

inside sh -c 'apt-get purge -qy headroom && apt-get autoremove --purge -qy' >> "$work/apt.log" 2>&1 || fail "purge"
rm -rf "$root/packages"
list_files > "$work/after"
left=$(comm -13 "$work/before" "$work/after" | grep -i headroom || true)
[ -z "$left" ] || fail "purge leaves $left"
echo "purged: nothing left"
rm -rf --one-file-system "$root"
