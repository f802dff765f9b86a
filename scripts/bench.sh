#!/usr/bin/env bash
# Measures the benchmarks and leaves bench/raw.txt and bench/table.md.
#
#   BENCH     which benchmarks, a pattern (.)
#   PACKAGES  where (all packages that have benchmarks)
#   COUNT     rounds (5), an odd number; the table shows the median
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

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p bench

read -ra wanted <<<"${PACKAGES:-./...}"
go list -f '{{.ImportPath}} {{.Dir}}' "${wanted[@]}" >"$work/all"
while read -r path dir; do
  if grep -qs '^func Benchmark' "$dir"/*_test.go; then
    echo "$path $dir"
  fi
done <"$work/all" >"$work/packages"

while read -r path _; do
  go test -c -o "$work/${path//\//_}" "$path"
done <"$work/packages"

for round in $(seq "$count"); do
  while read -r path dir; do
    echo "round $round of $count: $path" >&2
    (cd "$dir" && "$work/${path//\//_}" -test.run '^$' -test.bench "${BENCH:-.}" -test.benchmem </dev/null) ||
      { tail -n 20 bench/raw.txt >&2; exit 1; }
  done <"$work/packages"
done >bench/raw.txt

if ! grep -q '^Benchmark' bench/raw.txt; then
  echo "bench: no benchmark matches ${BENCH:-.}" >&2
  exit 1
fi

{
  echo "Revision $(git describe --always --dirty), $(go env GOVERSION)," \
    "$(sed -n 's/^cpu: //p' bench/raw.txt | head -n 1), $(nproc) cores, load before: $load."
  echo
  awk -f scripts/medians.awk bench/raw.txt
} >bench/table.md
cat bench/table.md
