#!/usr/bin/env bash
# Measures the benchmarks and leaves bench/raw.txt and bench/table.txt.
#
#   BENCH     which benchmarks, a pattern (.)
#   PACKAGES  where (all packages)
#   COUNT     rounds (5); the table shows the median
#
# Every round runs every benchmark once, so that a benchmark and the floor it
# is compared with meet the same state of the machine. A busy machine is
# refused, unless BUSY=1 says that the numbers are not to be kept.
set -euo pipefail
cd "$(dirname "$0")/.."

count=${COUNT:-5}
read -r load _ </proc/loadavg
if [ -z "${BUSY:-}" ] && awk "BEGIN { exit !($load > 0.5) }"; then
  echo "bench: the machine is busy (load $load); wait, or set BUSY=1" >&2
  exit 1
fi

binaries=$(mktemp -d)
trap 'rm -rf "$binaries"' EXIT
mkdir -p bench
raw=$PWD/bench/raw.txt table=$PWD/bench/table.txt
: >"$raw"

read -ra wanted <<<"${PACKAGES:-./...}"
list=$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' "${wanted[@]}")
mapfile -t packages <<<"$list"

for i in "${!packages[@]}"; do
  go test -c -o "$binaries/$i" "${packages[$i]% *}"
done

for round in $(seq "$count"); do
  for i in "${!packages[@]}"; do
    [ -x "$binaries/$i" ] || continue
    echo "pkg: ${packages[$i]% *}" >>"$raw"
    echo "round $round of $count: ${packages[$i]% *}"
    (cd "${packages[$i]#* }" && "$binaries/$i" -test.run '^$' -test.bench "${BENCH:-.}" -test.benchmem) >>"$raw"
  done
done

{
  echo "revision: $(git rev-parse --short HEAD), $(go version), load before: $load"
  go tool -modfile=internal/tools/go.mod benchstat "$raw"
} >"$table"
cat "$table"
