#!/usr/bin/env bash
# Packs the binary's Debian package twice, looks into it, unpacks it and runs what came out: package.sh BUILD CMAKE
set -eu
build=$1
cpack=$(dirname "$2")/cpack
work=$build/package-test
rm -rf "$work"
mkdir -p "$work"

fail() {
  printf '%s\n' "$*"
  exit 1
}

pack() {  # FOLDER
  "$cpack" --config "$build/CPackConfig.cmake" -B "$work/$1" -D CPACK_COMPONENTS_ALL=runtime \
    -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip > "$work/$1.log" 2>&1 ||
    fail "$(cat "$work/$1.log")"
}
pack first
sleep 1  # another second, which no file may tell
pack second
deb=$(echo "$work"/first/headroom_*.deb)
[ -f "$deb" ] || fail "no package in $work/first"
cmp "$deb" "$work/second/$(basename "$deb")" || fail "the same build gives another package"

dpkg-deb --contents "$deb" > "$work/contents"
! awk '$2 != "root/root"' "$work/contents" | grep . || fail "files that are not root's"
verbs=$("$build/cli/headroom" --help | sed -n 's/^  \([a-z]*\)   *[a-z].*/\1/p')
[ "$(echo "$verbs" | wc -w)" -ge 15 ] || fail "verbs: $verbs"
for path in bin/headroom share/man/man1/headroom.1.gz $(for verb in $verbs; do echo "share/man/man1/headroom-$verb.1.gz"; done) \
  share/bash-completion/completions/headroom share/zsh/vendor-completions/_headroom \
  share/fish/vendor_completions.d/headroom.fish share/doc/headroom/copyright share/doc/headroom/changelog.gz \
  share/doc/headroom/README.md share/doc/headroom/examples/scenarios/train/llama3-70b-512xh100.toml; do
  grep -q " \./usr/$path$" "$work/contents" || fail "the package has no /usr/$path"
done

depends=$(dpkg-deb --field "$deb" Depends)
[[ $depends == *libc6* && $depends == *libstdc++6* ]] || fail "depends on $depends"
[[ $depends != *[Cc][Uu]* ]] || fail "depends on CUDA: $depends"

dpkg-deb --extract "$deb" "$work/root"
cd "$work/root/usr/share/doc/headroom/examples"
"$work/root/usr/bin/headroom" plan scenarios/train/llama3-70b-512xh100.toml > "$work/packed.txt"
"$build/cli/headroom" plan scenarios/train/llama3-70b-512xh100.toml | cmp - "$work/packed.txt" || fail "another plan"
grep -q '^fits: ' "$work/packed.txt" || fail "no plan"
