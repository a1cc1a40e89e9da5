#!/bin/sh
# Runs the go command with the flags that the published program is made with:
#
#     packaging/go.sh build -o rdmaprobe .
#
# for GOOS and GOARCH, stamped with VERSION and COMMIT or what git says. They make
# it 0.7 MB smaller than plain `go build`, which gives the same program otherwise.
set -eu
export CGO_ENABLED=0
version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo devel)}
commit=${COMMIT:-$(git rev-parse HEAD 2>/dev/null || true)}

# Nothing is inlined, but in what does its work in a loop: the Go runtime, texts and
# JSON, the calls to C, the bytes of messages, the ledger. For each package the last
# pattern that fits it holds.
hot='runtime/... internal/... bytes strings strconv bufio encoding/... unicode/... slices sync/... math/... io reflect
  errors crypto/... github.com/ebitengine/... rdmaprobe/rdma rdmaprobe/rdma/internal/... rdmaprobe/probe/ledger rdmaprobe/probe/pattern'

command=$1
shift
for p in $hot; do
  set -- "-gcflags=$p=" "$@"
done
exec go "$command" -trimpath -ldflags "-s -w -funcalign=1 -X rdmaprobe/cmd.version=$version -X rdmaprobe/cmd.commit=$commit" \
  -gcflags=all=-l "$@"
