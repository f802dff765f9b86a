#!/usr/bin/env bash
# Says how much of the panel a browser loads, compressed, and fails above the
# budget: 110 KB for the first page, 75 more for the editor, 15 for any other
# page, 220 in all. Its argument is another folder of built files.
set -euo pipefail
cd "${1:-$(dirname "$0")/../server/panel/dist}"

zipped() { cat "$@" | gzip -9 | wc -c; }

# What index.html names, and what the entry of the first page adds.
first=(index.html $(grep -oE 'assets/[^"]+' index.html) assets/home-*.js assets/session-*.js)
mapfile -t first < <(printf '%s\n' "${first[@]}" | sort -u)
total=0 bad=0

within() { # name size budget
  local kb=$((($2 + 1023) / 1024))
  printf 'panel: %-10s %4s KB of %s\n' "$1" "$kb" "$3"
  if [ "$2" -gt $(($3 * 1024)) ]; then bad=1; fi
}

size=0
for f in "${first[@]}"; do size=$((size + $(zipped "$f"))); done
within first "$size" 110
editor=0
for f in assets/*; do
  n=$(zipped "$f")
  total=$((total + n))
  case "$f" in
    assets/canvas-* | assets/editor-*) editor=$((editor + n)) ;;
    *) if ! printf '%s\n' "${first[@]}" | grep -qxF "$f" && [ "$n" -gt $((15 * 1024)) ]; then within "$(basename "$f")" "$n" 15; fi ;;
  esac
done
within editor "$editor" 75
within total "$total" 220
exit "$bad"
