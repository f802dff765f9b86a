#!/usr/bin/env bash
# Checks and builds the panel. Its built files are in the repository, so that
# nobody needs node to run it: they must be what the sources make. KEEP=1 only
# builds.
set -euo pipefail
cd "$(dirname "$0")/../server/panel"

npm run --silent gen >/dev/null
npm run --silent check
npm run --silent test
npm run --silent build

bash ../../scripts/panel-size.sh

if [ -z "${KEEP:-}" ] && [ -n "$(git status --porcelain -- dist)" ]; then
  git status --short -- dist
  echo "panel: dist is not what the sources make; build it with KEEP=1 make panel and commit it" >&2
  exit 1
fi
