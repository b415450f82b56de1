#!/usr/bin/env bash
# load.sh HEADROOM WEB_LOAD OPTION...: starts a server at a free port, lets the clients of web_load at it, and stops it.
set -u
binary=$1 load=$2
shift 2
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
env -u HEADROOM_DATA_DIR HOME="$work" XDG_CONFIG_HOME="$work" "$binary" web --port 0 2>"$work/err" &
server=$!
for _ in $(seq 100); do
  port=$(sed -n 's#.*http://127\.0\.0\.1:\([0-9]*\)/.*#\1#p' "$work/err")
  [ -n "$port" ] && break
  sleep 0.1
done
[ -n "${port:-}" ] || { cat "$work/err"; exit 1; }
"$load" "$port" "$@"
code=$?
kill -TERM "$server"
wait "$server" || { echo "the server ended with $?"; code=1; }
exit $code
