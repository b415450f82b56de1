#!/usr/bin/env bash
# format.sh ROOT: every source of the project reads as .clang-format writes it. 77: clang-format-14 is not installed.
set -euo pipefail
cd "$1"
if ! command -v clang-format-14 > /dev/null; then
  echo "Skipped: clang-format-14 is not installed"
  exit 77
fi
folders=()
for folder in core hardware model scenarios answers calibrate cli web python tests bench cmake; do
  if [ -d "$folder" ]; then folders+=("$folder"); fi
done
# Two planted folders differ in blanks on purpose.
find "${folders[@]}" -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' |
  grep -v -e '^tests/planted/clones/' -e '^tests/planted/format/' | sort |
  xargs -n 60 -P 2 clang-format-14 --dry-run -Werror
