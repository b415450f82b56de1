#!/bin/bash
# truth_pages.sh BINARY TRUTH ROOT: each table line that `headroom validate` prints of the files that docs/accuracy.md names
# begins a line of that page, which the fit goes on with errors left out; and each row of docs/accuracy-notes.md that names
# files tells what the program says of them.
binary=$1 truth=$2 root=$3
if ! [ -d "$truth" ]; then
  echo "Skipped: no measured rows at $truth"
  exit 0
fi
cd "$truth" || exit 1
page=$root/docs/accuracy.md
files=$(sed -n 's/^Written by `headroom fit --stack all \(.*\) --format markdown`.*/\1/p' "$page")
if [ -z "$files" ]; then
  echo "$page names no files"
  exit 1
fi
status=0
# shellcheck disable=SC2086  # a list of names
"$binary" validate $files --format markdown | awk -v page="$page" '
  BEGIN { while ((getline line < page) > 0) known[++n] = line }
  /^\|/ && !/ left_out / {
    ++told
    found = 0
    for (i = 1; i <= n && !found; ++i) found = index(known[i], $0) == 1
    if (!found) { print "not on docs/accuracy.md: " $0; bad = 1 }
  }
  END { exit bad || told < 100 }' || status=1
rows=0
while IFS=$'\t' read -r arguments scored mape; do
  rows=$((rows + 1))
  said=$(eval "\"$binary\" validate $arguments --where metric=memory_gib_per_gpu --format markdown")
  if ! grep -qF "| all | $scored | $mape |" <<<"$said"; then
    echo "docs/accuracy-notes.md, $arguments: not $scored rows, $mape %:"
    grep -m1 "^| all |" <<<"$said"
    status=1
  fi
done < <(sed -n 's/^| [^|]* | `\([a-z_]*\.csv [^`]*\)` | \([^|]*\) | \([^|]*\) |$/\1\t\2\t\3/p' "$root/docs/accuracy-notes.md")
[ "$rows" -ge 5 ] || { echo "docs/accuracy-notes.md names $rows parts"; status=1; }
exit $status
