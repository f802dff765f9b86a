#!/usr/bin/env bash
# Runs every package that has a fault loop with long loops: ROUNDS each. Prints
# the tests' lines of what was promised and what was counted; bench/soak.log
# has everything.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(git grep -l 'testkit\.Rounds(' -- '*_test.go' | xargs -r -n1 dirname | sort -u)
if [ "${#packages[@]}" = 0 ]; then
  echo "soak: no package has a fault loop" >&2
  exit 1
fi
mkdir -p bench
go test -v -count=1 -timeout 0 "${packages[@]/#/./}" 2>&1 | tee bench/soak.log |
  sed -unE 's/^ +[a-z0-9_]+_test\.go:[0-9]+: (promise: .*)/\1/p; /^(ok|FAIL|panic:| *--- FAIL)/p'
