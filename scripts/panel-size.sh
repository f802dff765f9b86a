#!/usr/bin/env bash
# Says how much of the panel a browser loads, compressed, and fails above the
# budget: 110 KB for the first page, 75 more for the editor, 15 for any other
# page, 20 for the texts of a language, 270 in all for who reads one language:
# the others come instead of it. Its argument is another folder of built files.
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

# sum adds up files, each compressed alone.
sum() {
  local size=0 f
  for f in "$@"; do size=$((size + $(zipped "$f"))); done
  echo "$size"
}

within first "$(sum "${first[@]}")" 110
within editor "$(sum assets/canvas-* assets/editor-*)" 75
for language in en pt es; do
  within "texts $language" "$(sum assets/"$language".pages-*)" 20
done
total=0
for f in assets/*; do
  case "$f" in
    assets/pt-* | assets/pt.* | assets/es-* | assets/es.*) continue ;;
  esac
  n=$(zipped "$f")
  total=$((total + n))
  case "$f" in
    assets/canvas-* | assets/editor-* | assets/en.*) ;;
    *) if ! printf '%s\n' "${first[@]}" | grep -qxF "$f" && [ "$n" -gt $((15 * 1024)) ]; then within "$(basename "$f")" "$n" 15; fi ;;
  esac
done
within total "$total" 270
exit "$bad"
