# make test is everything: what it needs, it brings (as root on Debian) or names.
export CGO_ENABLED := 0

.PHONY: all build test deps check vuln unit race cross arm64 arm64-quick fuzzed lab soak soak-sim golden docs dist published bench fuzz faults clean
all: build

build:
	packaging/go.sh build -o rdmaprobe .

test: deps check unit race cross arm64-quick fuzzed lab published

deps:
	sh fixtures/deps.sh

check: dist/staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "not gofmt'ed: run gofmt -w ."; exit 1; }
	cache=$$(mktemp -d) && GOCACHE=$$cache go vet ./...; status=$$?; rm -rf $$cache; exit $$status
	dist/staticcheck ./...
	@$(MAKE) --no-print-directory vuln

# Known vulnerabilities in what is called; says so where no database is reached,
# and fails there on GitHub, which has a network.
vuln: dist/vuln
	RDMAPROBE_MUST_RUN=$(GITHUB_ACTIONS) dist/vuln

dist/vuln: tools/go.mod $(wildcard tools/vuln/*.go)
	go -C tools test ./vuln
	go -C tools build -o ../dist/vuln ./vuln

# The tools have a module of their own, so that theirs are not our dependencies.
dist/staticcheck: tools/go.mod
	go -C tools build -o ../dist/staticcheck honnef.co/go/tools/cmd/staticcheck

unit:
	RDMAPROBE_MUST_RUN=1 go test -shuffle=on ./...
	RDMAPROBE_MUST_RUN=1 go test -tags callsbypurego ./rdma

# The race detector cannot see other processes: tests that build and run the
# program are left to unit.
race:
	CGO_ENABLED=1 go test -race -short $$(go list ./rdma/... ./probe/... ./report/... | grep -v faulttest)

# linux/amd64 is vetted by check. With the flags of dist, which then finds
# everything compiled.
PLATFORMS := linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 freebsd/amd64
cross:
	@for p in $(PLATFORMS); do echo "cross $$p"; export GOOS=$${p%/*} GOARCH=$${p#*/}; \
	  packaging/go.sh build -o /dev/null . && packaging/go.sh vet ./... && \
	  packaging/go.sh vet -tags callsbypurego ./rdma || exit 1; done

# The tests of the call path, and of what stands on it, as linux/arm64 under QEMU:
# Macs take the same path. In the whole test they take two minutes; with
# the planted faults of the self-test four, nightly.
arm64: deps
	sh fixtures/arm64.sh all

# Only root can give the programs of arm64 their emulator.
arm64-quick:
	@if [ "$$(uname -sm)" = "Linux x86_64" ]; then \
	  must=; [ "$$(id -u)" != 0 ] || must=1; RDMAPROBE_MUST_RUN=$$must sh fixtures/arm64.sh quick; \
	else echo "arm64: skipped, it needs Linux on x86-64"; fi

# Every parser with a thousand inputs, its seeds among them; make fuzz gives more.
fuzzed:
	sh fixtures/fuzz.sh 1000x

# The lab is a virtual machine: it must run on Linux/x86-64 and cannot elsewhere.
lab: build
	@if [ "$$(uname -sm)" = "Linux x86_64" ]; then \
	  RDMAPROBE_MUST_RUN=1 go test -count=1 -timeout 15m -tags lab ./fixtures/lab; \
	else echo "lab: skipped, it needs Linux on x86-64"; fi

# Ping-pongs in the lab for an hour, or for what SOAK says: no process may grow.
soak: build
	RDMAPROBE_MUST_RUN=1 RDMAPROBE_SOAK=$${SOAK:-60m} go test -count=1 -timeout 0 -tags lab ./fixtures/lab -run TestSoak -v

# Ten thousand simulated runs by one process, or what RUNS says: nothing may grow.
soak-sim:
	go test ./probe -count=1 -timeout 0 -run TestSoak -v -soak $${RUNS:-10000}

golden:
	go test ./report ./cmd ./probe ./docs -update

# What is generated and committed; the tests fail when it is not current.
docs:
	go run ./cmd/gendocs packaging/man docs/cli
	go generate ./...

dist:
	packaging/dist.sh
	packaging/check.sh

# What is published is made, and tried, on Linux.
published:
	@if [ "$$(uname -s)" = Linux ]; then $(MAKE) dist; else echo "published: skipped, it is made on Linux"; fi

# The figures of docs/performance.md: make bench UPDATE=1 writes them there.
bench:
	go run ./fixtures/bench $(if $(UPDATE),-update) $(if $(ONLY),-only $(ONLY))

fuzz:
	sh fixtures/fuzz.sh $${FUZZTIME:-60s}

# Every fault at every call, hundreds of killed parents, every lie of a peer on every
# wire, and the proof of messages with each of its parts taken out.
faults:
	RDMAPROBE_MUST_RUN=1 go test ./probe/faulttest -count=1 -timeout 2h -faults=all -update -v -run 'TestMatrix|TestParent|TestLying|TestProof'

clean:
	rm -rf rdmaprobe dist
