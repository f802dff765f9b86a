#!/usr/bin/env bash
# Builds a release into dist/: an archive for each platform with the program,
# the README, the changelog and the licences of all that it links; what it was
# built of (CycloneDX); and the checksums. The same commit gives the same bytes.
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
for target in "${targets[@]}"; do
  os=${target%/*} arch=${target#*/}
  name=trunkline_${version}_${os}_$arch
  folder=$dist/$name
  program=$folder/trunkline archive=$folder.tar.gz
  if [ "$os" = windows ]; then program=$program.exe archive=$folder.zip; fi
  mkdir "$folder"
  begin=$SECONDS
  GOOS=$os GOARCH=$arch "${build[@]}" -o "$program" $main
  cp LICENSE NOTICE README.md CHANGELOG.md "$folder"
  if [ "$os" = linux ]; then cp deploy/trunkline.service "$folder"; fi
  bin/licences "$target" $main >"$folder/LICENSES-OF-OTHERS"
  bin/sbom "$version" "$program" >"$folder.cdx.json"
  bin/pack "$folder" "$archive" "$epoch"
  echo "release: $name, $((SECONDS - begin)) s, $(($(wc -c <"$program") >> 20)) MiB, packed $(($(wc -c <"$archive") >> 20)) MiB" >&2
  rm -r "$folder"
done
cd "$dist"
sha256sum -- trunkline_* >SHA256SUMS
cat SHA256SUMS
