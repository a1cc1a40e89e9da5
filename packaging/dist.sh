#!/usr/bin/env bash
# Builds what is published into dist/: tarballs for Linux and macOS, .debs, and
# SHA256SUMS. Equal sources give equal bytes: all times are the commit's.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0 TZ=UTC LC_ALL=C
version=$(git describe --tags --always --dirty 2>/dev/null || echo 0.0.0)
stamp=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH=$stamp
# A Debian version begins with a digit.
debversion=${version#v}
case $debversion in [0-9]*.*) ;; *) debversion=0.0.0+git$debversion ;; esac

rm -rf dist/man dist/completion dist/pkg dist/linux_* dist/darwin_* dist/rdmaprobe_* dist/SHA256SUMS
mkdir -p dist/man dist/completion dist/pkg
for p in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
  GOOS=${p%/*} GOARCH=${p#*/} VERSION=$version packaging/go.sh build -o "dist/${p/\//_}/rdmaprobe" .
  size=$(wc -c <"dist/${p/\//_}/rdmaprobe")
  if [ "$size" -gt 10000000 ]; then # maxProgram in release_test.go
    echo "dist: the program for $p has $size bytes" >&2
    exit 1
  fi
done
for f in packaging/man/*.1; do gzip -9n <"$f" >"dist/man/${f##*/}.gz"; done
go run . completion bash >dist/completion/rdmaprobe.bash
go run . completion zsh >dist/completion/_rdmaprobe
go run . completion fish >dist/completion/rdmaprobe.fish

pack() { # reproducible: sorted names, fixed owner and time
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$stamp" -C "$1" -cf - . | gzip -9n >"$2"
}
for p in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64; do
  d=dist/pkg/$p
  mkdir -p "$d/man" "$d/completion"
  cp "dist/$p/rdmaprobe" LICENSE README.md CHANGELOG.md "$d/"
  cp dist/man/* "$d/man/"
  cp dist/completion/* "$d/completion/"
  pack "$d" "dist/rdmaprobe_${version}_$p.tar.gz"
done
go -C tools build -o ../dist/nfpm github.com/goreleaser/nfpm/v2/cmd/nfpm
for arch in amd64 arm64; do
  ARCH=$arch VERSION=$debversion dist/nfpm package -f packaging/nfpm.yaml -p deb \
    -t "dist/rdmaprobe_${debversion}_$arch.deb"
done
(cd dist && sha256sum rdmaprobe_*.tar.gz rdmaprobe_*.deb >SHA256SUMS && cat SHA256SUMS)
