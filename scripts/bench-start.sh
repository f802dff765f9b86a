#!/usr/bin/env bash
# Measures how the binary, with the panel, starts: the first start on an empty
# folder, the second until the panel is served (median of 5) beside the least
# that a start of it can take (saying its version), and the memory at rest. Needs
# Linux, for /proc.
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
pid=
end() {
  [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
  rm -rf "$tmp"
}
trap end EXIT

CGO_ENABLED=0 go build -trimpath -o "$tmp/trunkline" ./server/cmd/trunkline
mkfifo "$tmp/stdout"

# start runs the server until it is ready, and sets pid and ms.
start() {
  local begin
  begin=$(date +%s%N)
  "$tmp/trunkline" --addr 127.0.0.1:0 --data "$tmp/data" --log error >"$tmp/stdout" &
  pid=$!
  exec 3<"$tmp/stdout"
  read -r line <&3
  url=${line#*panel }
  curl -fsS -o "$tmp/page" "${url%%,*}"
  ms=$((($(date +%s%N) - begin) / 1000000))
}

stop() {
  kill -TERM "$pid"
  wait "$pid"
  pid=
  exec 3<&-
}

start
first=$ms
stop
second=$(for _ in 1 2 3 4 5; do
  start
  echo "$ms"
  stop
done | sort -n | sed -n 3p)
floor=$(for _ in 1 2 3 4 5; do
  begin=$(date +%s%N)
  "$tmp/trunkline" version >"$tmp/version"
  echo $((($(date +%s%N) - begin) / 1000000))
done | sort -n | sed -n 3p)
start
sleep 5
rss=$(awk '/^VmRSS:/ { printf "%.1f", $2 / 1024 }' "/proc/$pid/status")
stop

printf '%-36s %8s\n' \
  'first start, empty folder' "$first ms" \
  'second start, median of 5' "$second ms" \
  'saying the version, median of 5' "$floor ms" \
  'resident memory after 5 s at rest' "$rss MiB" \
  'binary' "$(($(stat -c %s "$tmp/trunkline") / 1048576)) MiB"
