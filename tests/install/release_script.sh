#!/usr/bin/env bash
# The release script on a small repository whose ./run and cmake do nothing but say so: release_script.sh SOURCE
set -eu
source=$(cd "$1" && pwd)
command -v git > /dev/null || { echo "Skipped: no git"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf '%s\n' "$*"; exit 1; }

mkdir -p "$work/repository/debian" "$work/repository/packaging" "$work/bin"
cd "$work/repository"
cp "$source/packaging/release.sh" packaging/
cp "$source/debian/changelog" debian/
cp "$source/CHANGELOG.md" .
grep '^project(headroom VERSION' "$source/CMakeLists.txt" > CMakeLists.txt
version=$(sed 's/.*VERSION \([0-9.]*\).*/\1/' CMakeLists.txt)
echo build/ > .gitignore
cat > run <<'RUN'
#!/bin/sh
echo "run $*" >> "$LOG"
[ "$*" != "${BREAKS:-}" ]
RUN
# A cmake that leaves what the presets would build.
cat > "$work/bin/cmake" <<RUN
#!/bin/sh
echo "cmake \$*" >> "\$LOG"
mkdir -p build/deb/cli build/python
case "\$*" in
  *deb) touch build/deb/headroom_${version}_amd64.deb
        printf '#!/bin/sh\necho "Headroom ${version}, data of 2026-11"\n' > build/deb/cli/headroom
        chmod +x build/deb/cli/headroom ;;
  *wasm) mkdir -p build/wasm/npm
         echo page > build/wasm/headroom.html
         echo '{"name": "headroom", "version": "${version}"}' > build/wasm/npm/package.json ;;
  *python) touch build/python/headroom-${version}-cp311-cp311-linux_x86_64.whl ;;
esac
RUN
chmod +x run "$work/bin/cmake"
export LOG=$work/log PATH="$work/bin:$PATH"
git init -q . && git add -A
git -c user.name=test -c user.email=test@headroom.example commit -qm "A release"

steps="tree versions changelog tests long sanitizers packages wheel wasm artifacts"
[ "$(packaging/release.sh --dry-run | sed 's/^to do: //' | tr '\n' ' ')" = "$steps " ] || fail "a dry run lists other steps"
[ ! -e "$LOG" ] || fail "a dry run runs: $(cat "$LOG")"

# It stops where a test fails, and goes on from there.
! BREAKS="test long" packaging/release.sh > "$work/out" 2>&1 || fail "long tests fail, and the release goes on"
grep -q "long failed" "$work/out" || fail "$(cat "$work/out")"
[ "$(cat "$LOG")" = "run test
run test long" ] || fail "ran: $(cat "$LOG")"
: > "$LOG"
packaging/release.sh > "$work/out" 2>&1 || fail "$(cat "$work/out")"
[ "$(head -n 1 "$LOG")" = "run test long" ] || fail "begins anew: $(cat "$LOG")"
for preset in asan tsan deb python; do
  grep -q "^cmake --workflow --preset $preset$" "$LOG" || fail "builds no $preset"
done
grep -q "^cmake --build --preset wasm$" "$LOG" || fail "builds no wasm"
grep -q "$version may be published" "$work/out" || fail "$(cat "$work/out")"
files=build/releases/$(git rev-parse HEAD)/files
[ "$(wc -l < "$files/SHA256SUMS")" = 4 ] || fail "no digests of both packages, the page and the module: $(cat "$files/SHA256SUMS")"
tar tzf "$files/headroom-$version.tgz" | grep -q '^package/package.json$' || fail "the module is not laid out as npm does"
! packaging/release.sh --dry-run | grep 'to do' | grep -v tree || fail "something is still to do"

# What is not committed, and versions that disagree.
echo change >> CHANGELOG.md
! packaging/release.sh > "$work/out" 2>&1 || fail "a changed tree is released"
grep -q "not committed" "$work/out" || fail "$(cat "$work/out")"
git checkout -q CHANGELOG.md
sed -i "s/VERSION $version/VERSION 9.9.9/" CMakeLists.txt
git -c user.name=test -c user.email=test@headroom.example commit -qam "Another version"
: > "$LOG"
! packaging/release.sh > "$work/out" 2>&1 || fail "versions disagree, and it is released"
grep -q "the project is 9.9.9, debian/changelog begins with $version" "$work/out" || fail "$(cat "$work/out")"
[ ! -s "$LOG" ] || fail "tests run before the versions agree"
! packaging/release.sh --only nothing > "$work/out" 2>&1 || fail "a step that is none"
echo ok
