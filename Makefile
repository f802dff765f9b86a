SHELL := /bin/bash

NEEDS  := compiler postgres node panel clients browser python php shell netcat ffmpeg poppler mail promtool pooler
RACE   := ./internal/groupcommit/... ./internal/database/... ./internal/queue/...
TOOL   := go tool -modfile=internal/tools/go.mod
ACTIONLINT := go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
# Most tests wait, for a process or a timer: four of a package at once. The step vet
# has checked them.
GOTEST := go test -p 2 -parallel 4 -count=1 -vet=off
# The packages that take longest begin first, so that none of them runs alone in the end.
FIRST  := ./server ./server/cmd/trunkline ./aiflow/flow/runtime ./messaging ./internal/queue

export CGO_ENABLED = 0

step = @printf '\n== %s (%s)\n' "$(1)" "$$(date +%T)"

.PHONY: test prepare panel walk build vet platforms arrows tests statements race benchmarks lint vulncheck fmt bench soak flaky mutants fresh generate release release-check clean
.NOTPARALLEL:

# What continuous integration runs. ROUNDS is the length of each fault loop.
test: export ROUNDS ?= 3
test: prepare panel build vet tests walk race lint
	$(call step,done)

prepare:
	$(call step,prepare)
	bash scripts/prepare.sh $(NEEDS)

# The panel, built of its sources: the files in the repository must be the same.
panel:
	$(call step,panel)
	bash scripts/panel.sh

# The panel in a browser, on the real program.
walk:
	$(call step,walk)
	cd server/panel && npm run --silent walk

build:
	$(call step,build)
	go build ./...
	go build -o bin/ ./server/cmd/... ./server/panel/walk/...

vet:
	$(call step,vet)
	go vet ./...

# The program and its tests as Windows has them, which differs most: not a part
# of "test", because everything is compiled once more for it.
platforms:
	$(call step,platforms)
	GOOS=windows go vet -trimpath ./server/cmd/trunkline ./messaging/media ./internal/testkit

# Who may import whom.
arrows:
	$(call step,arrows)
	$(GOTEST) ./internal/archtest

tests:
	$(call step,tests)
	$(GOTEST) -timeout 30m $(FIRST) ./...
	cd examples/otel && $(GOTEST) ./...
	cd examples/gorm && $(GOTEST) ./...

# What a message asks of the database: statements and transactions, which are exact
# on any machine. The test fails when they grow.
statements:
	$(GOTEST) -v -run TestStatementsOfAMessage ./server

# The packages where goroutines meet, with shorter fault loops.
race:
	$(call step,race)
	CGO_ENABLED=1 ROUNDS=2 $(GOTEST) -race -timeout 15m $(RACE)

# Each benchmark once, so that none of them rots; nothing is measured. It runs every
# night, with the fault loops.
benchmarks:
	$(call step,benchmarks)
	$(GOTEST) -timeout 15m -run '^$$' -bench . -benchtime 1x ./...

# The linters, the formatters and the module file, without changing anything.
lint: vulncheck
	$(call step,lint)
	$(TOOL) golangci-lint run ./...
	go mod tidy -diff
	for module in otel gorm; do (cd examples/$$module && go mod tidy -diff && go tool -modfile=../../internal/tools/go.mod golangci-lint run ./...) || exit 1; done
	$(ACTIONLINT) .github/workflows/*.yml
	internal/tools/node_modules/.bin/dockerfile-utils lint deploy/Dockerfile
	! command -v systemd-analyze >/dev/null || systemd-analyze security --offline=true --threshold=20 --no-pager deploy/trunkline.service >/dev/null

# Known vulnerabilities, where their database can be reached.
vulncheck:
	$(call step,vulncheck)
	bash scripts/vulncheck.sh

fmt:
	$(TOOL) golangci-lint fmt ./...

# Measures; needs an idle machine. See scripts/bench.sh for its settings.
bench:
	bash scripts/bench.sh

# The fault loops at full length; a line for each promise.
soak: export ROUNDS ?= 50
soak: prepare
	bash scripts/soak.sh

# The Go tests 20 times on one busy processor, with test binaries that are stopped for
# a moment; names what ever failed. RUNS and PACKAGES are its settings.
flaky: export ROUNDS ?= 3
flaky:
	bash scripts/flaky.sh

# How many faults the tests find, and that they notice each broken promise of
# docs/reliability.md and each mended fault that is put back. SUBJECTS chooses packages,
# SAMPLE the number of mutants of each.
mutants: export ROUNDS ?= 1
mutants: export SEEDS ?= 100
mutants:
	go run ./internal/cmd/mutants -sample $(or $(SAMPLE),100) $(SUBJECTS)

generate:
	go generate ./...

# Archives for each platform, what they were built of, and checksums, in dist/.
release:
	bash scripts/release.sh

# The README as a newcomer meets it, with nothing downloaded before.
fresh:
	bash scripts/fresh.sh

# The release of the last commit, twice, byte for byte.
release-check:
	bash scripts/release-check.sh

clean:
	rm -rf bin bench dist internal/tools/node_modules clients/typescript/node_modules
