#!/bin/sh
# Runs the go command as the published program is made, for GOOS and GOARCH,
# stamped with VERSION and COMMIT or what git says:
#
#     packaging/go.sh build -o rdmaprobe .
set -eu
export CGO_ENABLED=0
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo devel)}
commit=${COMMIT:-$(git rev-parse HEAD 2>/dev/null || true)}
command=$1
shift
exec go "$command" -trimpath -ldflags "-s -w -X rdmaprobe/cmd.version=$version -X rdmaprobe/cmd.commit=$commit" "$@"
