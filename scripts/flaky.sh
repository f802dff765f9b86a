#!/usr/bin/env bash
# Runs the Go tests RUNS times (20) on one processor, beside a program that keeps it
# busy, and stops test binaries for up to two seconds, over and over. Prints each test
# that ever failed with its number of failures, and fails if there is one.
# bench/flaky.log has everything. PACKAGES chooses packages. Needs Linux.
set -euo pipefail

# go test runs each binary through this script, which notes its process.
if [ "${1:-}" = --note ]; then
  touch "$FLAKY_RUNNING/$$"
  shift
  exec "$@"
fi

cd "$(dirname "$0")/.."
mkdir -p bench
log=bench/flaky.log
: >"$log"
FLAKY_RUNNING=$(mktemp -d)
export FLAKY_RUNNING
background=()
end() {
  kill "${background[@]}" 2>/dev/null || true
  rm -rf "$FLAKY_RUNNING"
}
trap end EXIT

taskset -c 0 sh -c 'while :; do :; done' &
background+=($!)
(
  while sleep "$((RANDOM % 3 + 1))"; do
    pid=$(find "$FLAKY_RUNNING" -type f -printf '%f\n' | shuf -n 1)
    [ -n "$pid" ] || continue
    if ! kill -STOP "$pid" 2>/dev/null; then
      rm -f "$FLAKY_RUNNING/$pid" # it has ended
      continue
    fi
    sleep "$((RANDOM % 2)).$((RANDOM % 9 + 1))"
    kill -CONT "$pid" 2>/dev/null || true
  done
) &
background+=($!)

read -ra packages <<<"${PACKAGES:-./...}"
for ((run = 1; run <= ${RUNS:-20}; run++)); do
  echo "flaky: run $run, $(date +%T)"
  taskset -c 0 go test -p 2 -parallel 4 -count=1 -vet=off -timeout 3h -exec "bash $PWD/scripts/flaky.sh --note" "${packages[@]}" >>"$log" 2>&1 || true
done

failed=$(sed -nE 's/^ *--- FAIL: ([^ ]+) .*/\1/p; s/^FAIL\t([^ ]+)\t.*/\1/p; s/^panic: (.*)/\1/p' "$log" | sort | uniq -c | sort -rn)
if [ -n "$failed" ]; then
  echo "$failed"
  exit 1
fi
echo "flaky: nothing failed"
