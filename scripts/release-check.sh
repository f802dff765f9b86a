#!/usr/bin/env bash
# Builds the release of the last commit twice, in two folders, and fails when
# one byte differs. TARGETS as in scripts/release.sh (linux/amd64).
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TARGETS=${TARGETS:-linux/amd64}
for folder in one another/of-a-longer-name; do
  git clone --quiet . "$work/$folder"
  DIST="$work/$(basename "$folder").dist" bash "$work/$folder/scripts/release.sh" >/dev/null
done
diff -r "$work/one.dist" "$work/of-a-longer-name.dist"
echo "release: twice the same bytes"
cat "$work/one.dist/SHA256SUMS"
