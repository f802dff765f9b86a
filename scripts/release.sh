#!/usr/bin/env bash
# Builds a release into dist/: archives for each platform of two programs, trunkline
# and trunkline-noweb, which is without WhatsApp Web and its GPL library. Each has the
# program, the README, the changelog, its licence and those of all that it links; what
# it was built of (CycloneDX) is beside it, and so are the checksums. The same commit
# gives the same bytes.
#
#   VERSION   1.2.3 (the git tag without its v)
#   TARGETS   platforms (linux, darwin and windows on amd64 and arm64)
#   DIST      where to (dist)
#   JOBS      packages that are compiled at once (as many as there are processors)
set -euo pipefail
cd "$(dirname "$0")/.."

tag=$(git describe --tags --always --dirty)
version=${VERSION:-${tag#v}}
dist=${DIST:-dist}
read -ra targets <<<"${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}"
epoch=$(git log -1 --format=%ct)
main=./server/cmd/trunkline
build=(go build -trimpath -buildvcs=true -ldflags "-s -w -X main.version=$version")
if [ -n "${JOBS:-}" ]; then build+=(-p "$JOBS"); fi
export CGO_ENABLED=0

rm -rf "$dist"
mkdir -p "$dist" bin
go build -trimpath -o bin/ ./internal/cmd/...

# pack_program builds and packs one program for one platform.
pack_program() { # PROGRAM TAGS OS/ARCH
  local os=${3%/*} arch=${3#*/}
  local name=${1}_${version}_${os}_$arch
  local folder=$dist/$name
  local program=$folder/$1 archive=$folder.tar.gz begin=$SECONDS
  if [ "$os" = windows ]; then program=$program.exe archive=$folder.zip; fi
  mkdir "$folder"
  GOOS=$os GOARCH=$arch "${build[@]}" -tags "$2" -o "$program" $main
  cp LICENSE NOTICE README.md CHANGELOG.md "$folder"
  if [ "$2" != noweb ]; then cat "$(go list -m -f '{{.Dir}}' go.mau.fi/libsignal)/LICENSE" >"$folder/COPYING"; fi
  if [ "$os" = linux ]; then sed "s|/bin/trunkline |/bin/$1 |" deploy/trunkline.service >"$folder/trunkline.service"; fi
  bin/licences "$3" $main "$2" >"$folder/LICENSES-OF-OTHERS"
  bin/sbom "$version" "$program" >"$folder.cdx.json"
  bin/pack "$folder" "$archive" "$epoch"
  echo "release: $name, $((SECONDS - begin)) s, $(($(wc -c <"$program") >> 20)) MiB, packed $(($(wc -c <"$archive") >> 20)) MiB" >&2
  rm -r "$folder"
}

for target in "${targets[@]}"; do
  pack_program trunkline "" "$target"
  pack_program trunkline-noweb noweb "$target"
done
cd "$dist"
sha256sum -- trunkline* >SHA256SUMS
cat SHA256SUMS
