#!/usr/bin/env bash
# Measures how the binary of a release, with the panel, starts: the first start on
# an empty folder, the second until the program says that it is ready, serves the
# panel and answers the probe (medians of 5), beside the least that a start of it
# can take (saying its version), and the memory at rest. Needs Linux, for /proc.
set -euo pipefail
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
pid=
end() {
  [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
  rm -rf "$tmp"
}
trap end EXIT

CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$tmp/trunkline" ./server/cmd/trunkline
mkfifo "$tmp/stdout"

since() { echo $((($(date +%s%N) - begin) / 1000000)); }

# median prints the median of a column of five lines.
median() { sort -n -k "$1" | sed -n 3p | cut -d ' ' -f "$1"; }

# start runs the server until it answers, and sets pid and ready, ms and probe.
start() {
  begin=$(date +%s%N)
  "$tmp/trunkline" --addr 127.0.0.1:0 --data "$tmp/data" --log error >"$tmp/stdout" &
  pid=$!
  exec 3<"$tmp/stdout"
  read -r line <&3
  ready=$(since)
  url=${line#*panel }
  url=${url%%,*}
  curl -fsS -o "$tmp/page" "$url"
  ms=$(since)
  curl -fsS -o "$tmp/page" "${url%panel/}probe"
  probe=$(since)
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
for _ in 1 2 3 4 5; do
  start
  echo "$ready $ms $probe"
  stop
done >"$tmp/second"
for _ in 1 2 3 4 5; do
  begin=$(date +%s%N)
  "$tmp/trunkline" version >"$tmp/version"
  since
done >"$tmp/floor"
start
sleep 5
memory() { awk -v of="$1:" '$1 == of { printf "%.1f MiB", $2 / 1024 }' "/proc/$pid/status"; }
anon=$(memory RssAnon)
file=$(memory RssFile)
stop

printf '%-36s %8s\n' \
  'first start, empty folder' "$first ms" \
  'second start, until it says so' "$(median 1 <"$tmp/second") ms" \
  'until the panel is served' "$(median 2 <"$tmp/second") ms" \
  'until the probe answers' "$(median 3 <"$tmp/second") ms" \
  'saying the version' "$(median 1 <"$tmp/floor") ms" \
  'memory after 5 s at rest, own' "$anon" \
  'pages of the binary' "$file" \
  'binary' "$(($(stat -c %s "$tmp/trunkline") / 1000000)) MB"
