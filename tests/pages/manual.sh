#!/usr/bin/env bash
# Manual pages without a complaint of mandoc or of groff, which ever there is: manual.sh FOLDER
set -u
checked=
failures=0
complain() {  # PAGE COMPLAINTS
  if [ -n "$2" ]; then
    printf '%s\n%s\n' "$1" "$2"
    failures=$((failures + 1))
  fi
}
pages=("$1"/man1/*.1)
[ -e "${pages[0]}" ] || { echo "no pages in $1"; exit 1; }
for page in "${pages[@]}"; do
  if command -v mandoc > /dev/null; then
    checked=yes
    # The date is written as ISO 8601; mandoc would have it as mdoc does.
    complain "$page" "$(mandoc -Tlint -Wwarning "$page" 2>&1)"
  fi
  if command -v groff > /dev/null; then
    checked=yes
    complain "$page" "$(groff -man -Tutf8 -ww -Z "$page" 2>&1 > /dev/null)"
  fi
done
[ -n "$checked" ] || echo "Skipped: neither mandoc nor groff"
exit $((failures > 0))
