#!/usr/bin/env bash
# Packs everything, installs it with apt in a fresh Debian 12, runs it there, and takes it away again: chroot.sh BUILD
# Needs root, debootstrap and a mirror (HEADROOM_MIRROR, else debootstrap's own choice).
set -eu
build=$(cd "$1" && pwd)
work=$build/chroot-test
root=$work/root
[ "$(id -u)" = 0 ] || { echo "debootstrap needs root"; exit 1; }
rm -rf "$work"
mkdir -p "$work"

fail() {
  printf '%s\n' "$*"
  exit 1
}

inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}

cpack --config "$build/CPackConfig.cmake" -B "$work/packages" > "$work/cpack.log" 2>&1 || fail "$(cat "$work/cpack.log")"
debootstrap --variant=minbase bookworm "$root" ${HEADROOM_MIRROR:+"$HEADROOM_MIRROR"} > "$work/debootstrap.log" 2>&1 ||
  fail "$(tail "$work/debootstrap.log")"
# How this machine reaches its mirror, such as a proxy, goes for the chroot's apt too.
apt-config dump | grep '^Acquire::[Hh]ttp' > "$root/etc/apt/apt.conf.d/99mirror" || true
cp /etc/resolv.conf "$root/etc/resolv.conf"
inside apt-get update -q > "$work/apt.log" 2>&1 || fail "$(tail "$work/apt.log")"
inside apt-get install -qy --no-install-recommends man-db >> "$work/apt.log" 2>&1 || fail "$(tail "$work/apt.log")"
list_files() { (cd "$root" && find usr etc var/lib -path var/lib/apt -prune -o -path var/lib/dpkg -prune -o -print | sort); }
list_files > "$work/before"

mkdir "$root/packages"
cp "$work"/packages/headroom_*.deb "$work"/packages/libheadroom-dev_*.deb "$root/packages"
inside sh -c 'apt-get install -qy --no-install-recommends /packages/headroom_*.deb' >> "$work/apt.log" 2>&1 ||
  fail "$(tail "$work/apt.log")"

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

inside sh -c 'apt-get purge -qy headroom && apt-get autoremove --purge -qy' >> "$work/apt.log" 2>&1 || fail "purge"
rm -rf "$root/packages"
list_files > "$work/after"
left=$(comm -13 "$work/before" "$work/after" | grep -i headroom || true)
[ -z "$left" ] || fail "purge leaves $left"
echo "purged: nothing left"
rm -rf "$root"
