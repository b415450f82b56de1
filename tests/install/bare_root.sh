#!/usr/bin/env bash
# Both commands of the README in a fresh Debian 12 that holds nothing but its base: bare_root.sh SOURCE WORK PROGRAM
# Needs root, debootstrap and a mirror (HEADROOM_MIRROR, else debootstrap's own choice), and some 25 minutes of two cores.
set -eu
source=$(cd "$1" && pwd)
work=$2
program=$3
root=$work/root

skip() { printf 'Skipped: %s\n' "$*"; exit 0; }
fail() { printf '%s\n' "$*"; exit 1; }

[ "$(id -u)" = 0 ] || skip "a fresh root asks for root"
command -v debootstrap > /dev/null || skip "no debootstrap"
command -v unshare > /dev/null || skip "no unshare"

# Mounts of the fresh root live in a namespace of their own and go with it, however this ends.
if [ -z "${HEADROOM_BARE_ROOT_INSIDE:-}" ]; then
  unshare --mount true 2> /dev/null || skip "mount namespaces are not allowed here"
  HEADROOM_BARE_ROOT_INSIDE=1 exec unshare --mount bash "$0" "$source" "$work" "$program"
fi

rm -rf --one-file-system "$work"
mkdir -p "$work"
debootstrap --variant=minbase bookworm "$root" ${HEADROOM_MIRROR:+"$HEADROOM_MIRROR"} > "$work/debootstrap.log" 2>&1 ||
  skip "no base system could be had: $(tail -n 1 "$work/debootstrap.log")"
# How this machine reaches its mirror goes for the fresh root's apt too.
apt-config dump | grep -E '^Acquire::([Hh]ttp|Check-)' > "$root/etc/apt/apt.conf.d/99mirror" || true
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/hosts "$root/etc/hosts"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"

# What is tracked, and what is new and not ignored: a clean clone of the working tree.
mkdir "$root/headroom"
(cd "$source" && { git ls-files -z; git ls-files -z --others --exclude-standard; } | tar cf - --null -T - --ignore-failed-read) |
  tar xf - -C "$root/headroom"

inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"
}

start=$SECONDS
inside sh -c 'cd /headroom && COLUMNS=100000 ./run plan scenarios/train/llama3-70b-512xh100.toml' > "$work/plan.txt" 2> "$work/plan.err" ||
  fail "the first command: $(tail -n 40 "$work/plan.err")"
echo "the first command: $((SECONDS - start)) s"
golden=$source/tests/golden/plan_llama3_70b_512xh100.transcript
# As the transcript, but for the marks at its head and for numbers, which a fit moves.
words() {
  sed -E 's/[0-9]+([. ][0-9]+)*/#/g; s/ +/ /g; s/# [kMGT] /# /g; s/# [a-zµ]+ \(# [a-zµ]+ to # [a-zµ]+\)/#/g'
}
[ "$(grep -v '^!' "$golden" | head -n 1)" = '$ headroom plan scenarios/train/llama3-70b-512xh100.toml' ] ||
  fail "$golden begins otherwise"
grep -v '^!' "$golden" | tail -n +2 | words > "$work/golden.words"
# To the byte as the program that was built here says it.
(cd "$source" && env -i PATH="$PATH" HOME=/nonexistent COLUMNS=100000 "$program" plan scenarios/train/llama3-70b-512xh100.toml) |
  diff - "$work/plan.txt" || fail "the first command prints another plan than the program built outside"
words < "$work/plan.txt" | diff "$work/golden.words" - || fail "the first command prints another plan than the README"

start=$SECONDS
inside sh -c 'cd /headroom && ./run test' > "$work/test.txt" 2>&1 || fail "the second command: $(tail -n 80 "$work/test.txt")"
echo "the second command: $((SECONDS - start)) s"
grep '100% tests passed' "$work/test.txt" || fail "the second command names no passed tests: $(tail -n 20 "$work/test.txt")"
sed -n '/The following tests did not run/,$p' "$work/test.txt"
umount -R "$root/dev"
umount "$root/proc"
rm -rf --one-file-system "$root"
