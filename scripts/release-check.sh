#!/usr/bin/env bash
# Builds the release of the last commit twice, in two folders, the second time
# from nothing, and fails when one byte differs, or when what is in an archive
# is not what it should be. TARGETS and JOBS as in scripts/release.sh
# (linux/amd64).
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
export TARGETS=${TARGETS:-linux/amd64}
release() { # FOLDER
  git clone --quiet . "$work/$1"
  DIST="$work/$(basename "$1").dist" bash "$work/$1/scripts/release.sh" >/dev/null
}
release one
GOCACHE=$work/cache release another/of-a-longer-name
diff -r "$work/one.dist" "$work/of-a-longer-name.dist"
echo "release: twice the same bytes"

cd "$work/one.dist"
sha256sum --check --quiet SHA256SUMS
for archive in *.tar.gz *.zip; do
  [ -e "$archive" ] || continue
  mkdir "$work/$archive"
  case $archive in
  *.zip) unzip -q "$archive" -d "$work/$archive" ;;
  *) tar -xzf "$archive" -C "$work/$archive" ;;
  esac
  folder=$work/$archive/${archive%.*}
  folder=${folder%.tar}
  for part in LICENSE NOTICE README.md CHANGELOG.md LICENSES-OF-OTHERS; do
    [ -s "$folder/$part" ] || { echo "release: $archive has no $part" >&2; exit 1; }
  done
  # The program that links libsignal says so, and has the text of its licence; the other
  # has neither.
  case $archive in
  trunkline-noweb_*) name=trunkline-noweb licence=Apache-2.0 gpl=no ;;
  *) name=trunkline licence=GPL-3.0-or-later gpl=yes ;;
  esac
  for part in "$folder/COPYING" "$folder/LICENSES-OF-OTHERS" "$(basename "$folder").cdx.json"; do
    found=no
    if grep -qsE '^ *GNU GENERAL PUBLIC LICENSE$|go.mau.fi/libsignal@' "$part"; then found=yes; fi
    [ $found = $gpl ] || { echo "release: $archive has the wrong licences in $(basename "$part")" >&2; exit 1; }
  done
  case $archive in
  *_"$(go env GOHOSTOS)"_"$(go env GOHOSTARCH)".*)
    said=$("$folder/$name" version)
    echo "$said"
    grep -qx "licence   $licence.*" <<<"$said" || { echo "release: $archive does not name its licence" >&2; exit 1; }
    ;;
  esac
done
cat SHA256SUMS
