#!/usr/bin/env bash
# Everything that has to hold before a version is published, step by step: release.sh [--dry-run] [--again] [--only STEP]
# It stops at the first step that fails. Called again it goes on from there: what is done is noted by commit below
# build/releases, so that another commit begins anew. --dry-run lists the steps and what is done, and runs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

dry=
again=
only=
while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry=1 ;;
    --again) again=1 ;;
    --only) only=${2:?--only needs a step}; shift ;;
    *) echo "release: '$1' is none of --dry-run, --again, --only STEP" >&2; exit 2 ;;
  esac
  shift
done

commit=$(git rev-parse HEAD)
notes=build/releases/$commit
[ -z "$again" ] || rm -rf "$notes"

fail() { printf 'release: %s\n' "$*" >&2; return 1; }
version() { sed -n 's/^project(headroom VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt; }

tree() {
  local changed
  changed=$(git status --porcelain)
  [ -z "$changed" ] || fail "the tree has changes that are not committed:
$changed"
}

# The tests compare the changelogs word for word; here they are compared before hours of tests.
versions() {
  local project debian told
  project=$(version)
  debian=$(sed -n '1s/^headroom (\([^)]*\)).*/\1/p' debian/changelog)
  told=$(sed -n 's/^## \([0-9.]*\) (.*/\1/p' CHANGELOG.md | head -n 1)
  [ -n "$project" ] || fail "CMakeLists.txt states no version"
  [ "$project" = "$debian" ] || fail "the project is $project, debian/changelog begins with $debian"
  [ "$project" = "$told" ] || fail "the project is $project, CHANGELOG.md begins with $told"
  if git rev-parse -q --verify "refs/tags/v$project" > /dev/null; then
    [ "$(git rev-parse "v$project^{commit}")" = "$commit" ] || fail "v$project is the tag of another commit"
  fi
}

changelog() {
  local entry
  entry=$(sed -n "/^## $(version) /,/^## [^$(version)]/p" CHANGELOG.md | grep -c '^- ') || true
  [ "$entry" -gt 0 ] || fail "CHANGELOG.md tells nothing of $(version)"
}

tests() { ./run test; }
long() { ./run test long; }
sanitizers() { cmake --workflow --preset asan && cmake --workflow --preset tsan; }
packages() { cmake --workflow --preset deb; }
wheel() { cmake --workflow --preset python; }
wasm() { cmake --preset wasm && cmake --build --preset wasm; }

# What is published says the version of the source, and was built from this commit.
artifacts() {
  local project out=build/releases/$commit/files file
  project=$(version)
  mkdir -p "$out"
  rm -f "$out"/*
  for file in build/deb/headroom_"$project"_*.deb build/python/headroom-"$project"-*.whl; do
    [ -f "$file" ] || fail "there is no $file"
    cp "$file" "$out"
  done
  cp build/deb/*_"$project"_*.deb "$out"
  # The page in one file, and the npm module as `npm pack` lays it out; the same bytes from the same source.
  for file in build/wasm/headroom.html build/wasm/npm/package.json; do
    [ -f "$file" ] || fail "there is no $file"
  done
  grep -q "\"version\": \"$project\"" build/wasm/npm/package.json || fail "the npm module is not of version $project"
  cp build/wasm/headroom.html "$out/headroom-$project.html"
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" \
    --transform 's,^\./,package/,' -C build/wasm/npm . | gzip -n > "$out/headroom-$project.tgz"
  build/deb/cli/headroom --version | grep -q "^Headroom $project, data of 20" ||
    fail "the program says '$(build/deb/cli/headroom --version)'"
  (cd "$out" && sha256sum -- *.deb *.html *.tgz *.whl > SHA256SUMS && cat SHA256SUMS)
}

steps=(tree versions changelog tests long sanitizers packages wheel wasm artifacts)
if [ -n "$only" ] && [[ " ${steps[*]} " != *" $only "* ]]; then
  echo "release: '$only' is no step; there are ${steps[*]}" >&2
  exit 2
fi
for step in "${steps[@]}"; do
  [ -z "$only" ] || [ "$only" = "$step" ] || continue
  # A tree that was clean may have been changed since.
  if [ -e "$notes/$step" ] && [ "$step" != tree ] && [ -z "$only" ]; then
    echo "done: $step"
    continue
  fi
  if [ -n "$dry" ]; then
    echo "to do: $step"
    continue
  fi
  echo "release: $step"
  if ! (set -e; "$step"); then
    echo "release: $step failed; mend it and call this again to go on from there" >&2
    exit 1
  fi
  mkdir -p "$notes"
  date -u +%FT%TZ > "$notes/$step"
done
[ -n "$dry$only" ] || echo "release: $(version) may be published: tag v$(version), and the files of $notes/files"
