#!/usr/bin/env bash
# Builds a release into dist/: an archive for each platform, what it was built
# of (CycloneDX), and the checksums. The same commit gives the same bytes.
#
#   VERSION   1.2.3 (the git tag without its v)
#   TARGETS   platforms (linux, darwin and windows on amd64 and arm64)
#   DIST      where to (dist)
set -euo pipefail
cd "$(dirname "$0")/.."

tag=$(git describe --tags --always --dirty)
version=${VERSION:-${tag#v}}
dist=${DIST:-dist}
read -ra targets <<<"${TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}"
epoch=$(git log -1 --format=%ct)

rm -rf "$dist"
mkdir -p "$dist"
for target in "${targets[@]}"; do
  os=${target%/*} arch=${target#*/}
  name=trunkline_${version}_${os}_$arch
  folder=$dist/$name
  program=$folder/trunkline
  if [ "$os" = windows ]; then program=$program.exe; fi
  mkdir "$folder"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$program" ./server/cmd/trunkline
  cp LICENSE NOTICE README.md CHANGELOG.md "$folder"
  if [ "$os" = linux ]; then cp deploy/trunkline.service "$folder"; fi
  go run ./internal/cmd/sbom "$version" "$program" >"$dist/$name.cdx.json"
  tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w -C "$dist" -cf - "$name" | gzip -9n >"$dist/$name.tar.gz"
  rm -r "$folder"
  echo "release: $name" >&2
done
cd "$dist"
sha256sum -- *.tar.gz *.json >SHA256SUMS
cat SHA256SUMS
