#!/usr/bin/env bash
# Runs every package that has a fault loop with long loops: ROUNDS each.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t packages < <(git grep -l 'testkit\.Rounds(' -- '*_test.go' | xargs -r -n1 dirname | sort -u)
if [ "${#packages[@]}" = 0 ]; then
  echo "soak: no package has a fault loop" >&2
  exit 1
fi
go test -count=1 -timeout 0 "${packages[@]/#/./}"
