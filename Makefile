# make demo and make test install what they need on Debian and Ubuntu; elsewhere they list it.

RELEASER := github.com/goreleaser/goreleaser/v2@v2.12.7
SYFT     := github.com/anchore/syft/cmd/syft@v1.54.0
SCANNER  := golang.org/x/vuln/cmd/govulncheck@v1.9.0
LINTER   := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
ARGS     ?=
BENCH    ?= .
EACH     ?=
FUZZTIME ?= 60s
SHOTS    ?=

# A binary's version information, from the checkout or else from the environment, as in releases.
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT   ?= $(shell git describe --always --abbrev=40 --exclude '*' --dirty 2>/dev/null || echo unknown)
DATE     ?= $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null || echo unknown)
BIN      ?= bin
# Gin's MessagePack, which is not used, takes 6 MB of a binary. Go's own stamp of the checkout is omitted: the same
# source builds the same binary with and without one.
BUILD     = CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags nomsgpack -ldflags "$(LDFLAGS)"
LDFLAGS   = -s -w -X crossgate/internal/release.version=$(VERSION) -X crossgate/internal/release.commit=$(COMMIT) -X crossgate/internal/release.date=$(DATE)

.PHONY: help demo test soak lint fmt fuzz bench bench-report gateway build reproducible size contracts image manifests check check-deploy check-pages vulnerabilities release release-check publish-client

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## the offline world with the gateway in front of it, on 127.0.0.1:8080; writes demo.yaml and examples/wallet/.env (ARGS="--listen ADDRESS --operators ADDRESS --control ADDRESS")
	@echo 'Compiling the gateway and its world: some minutes the first time, seconds afterwards.'
	@cd sandbox && all=$$(go list -deps ./cmd/sandbox | wc -l) && n=0 && \
	  { CGO_ENABLED=0 go build -v -ldflags "$(LDFLAGS)" -o "$(abspath $(BIN))/" ./cmd/sandbox 2>&1 || echo 'not compiled'; } | while read -r line; do \
	  case "$$line" in 'not compiled') exit 1 ;; *' '*) echo "$$line" ;; *) n=$$((n + 1)); [ $$((n % 25)) != 0 ] || echo "$$n of $$all packages: $$line" ;; esac; done
	@$(BIN)/sandbox --config "$(CURDIR)/demo.yaml" --wallet "$(CURDIR)/examples/wallet/.env" $(ARGS)

test: ## vet, every test (the gateway's that start goroutines under the race detector), every benchmark once, checks of deploy/
	@.ci/test

soak: ## an hour and a half of long tests on two cores: fuzzing, kills, providers that lose data or lie, deep reorgs, thousands of filters, mutated swap transactions, attacks through nginx, HAProxy, Varnish and Envoy, a fleet with failing parts, a million orders; prints a table at the end; installs what it needs except Envoy
	@.ci/soak

lint: ## golangci-lint on the gateway, sandbox and bench
	go run $(LINTER) run
	cd sandbox && go run $(LINTER) run
	cd bench && go run $(LINTER) run

fmt: ## format the Go sources
	go run $(LINTER) fmt . ./sandbox ./bench

check-pages: ## test the pages in Chromium, and lint the OpenAPI document with Redocly (installs chromium and npm packages)
	@.ci/browser
	cd sandbox && CROSSGATE_PAGES=all CROSSGATE_SHOTS="$(abspath $(SHOTS))" go test -count=1 -timeout 20m -v -run TestPagesInABrowser ./stories
	REDOCLY_TELEMETRY=off npx --yes @redocly/cli@2.77.0 lint --skip-rule operation-4xx-response proxy/openapi.yaml

check-deploy: ## check deploy/ with the libraries of Helm, Kubernetes and Compose (a module of its own)
	cd deploy/check && go vet ./... && go test ./...

manifests: ## render the chart with deploy/helm/*.yaml to deploy/helm/rendered
	cd deploy/check && go test -count=1 -run TestRenderedManifests . -args -update

fuzz: ## run every fuzz target for FUZZTIME
	@.ci/fuzz $(FUZZTIME)

bench: ## benchmarks of requests and of the order index; BENCH selects, EACH='-short -benchtime 1x' is a quick run
	cd bench && go test -timeout 120m -run '^$$' -bench '$(BENCH)' -benchmem $(EACH) .
	go test -timeout 120m -run '^$$' -bench '$(BENCH)' -benchmem $(EACH) $$(grep -rl --include='*_test.go' \
	  --exclude-dir=bench --exclude-dir=node_modules '^func Benchmark' . | xargs -n 1 dirname | sort -u)

bench-report: ## a table: the cost of a cache hit, compared with nginx, HAProxy, Varnish and a bare net/http handler
	@.ci/bench-report

gateway: ## the gateway's static binary in bin/
	$(BUILD) -o $(BIN)/ ./cmd/crossgate

build: gateway ## static binaries in bin/
	cd sandbox && $(BUILD) -o $(abspath $(BIN))/ ./cmd/sandbox

reproducible: ## check that the gateway built at two paths is identical, bit by bit
	@.ci/reproducible

size: ## check the size of the gateway's binary against docs/decisions/0038-binary-size.md
	@.ci/size

contracts: ## compile the sandbox's Solidity again (needs Node.js); the artifacts are committed
	cd sandbox/contracts && npm ci --no-audit --no-fund && node compile.mjs

image: ## the gateway as a container image (needs Docker, Podman or Buildah's docker alias)
	docker build -f deploy/Dockerfile --build-arg VERSION="$(VERSION)" --build-arg COMMIT="$(COMMIT)" --build-arg DATE="$(DATE)" -t crossgate .

release-check: reproducible size ## build a release of the working tree in dist/, without images, and do not publish it (builds goreleaser and syft first)
	go run $(RELEASER) check
	GOBIN="$(CURDIR)/bin" go install $(SYFT)
	PATH="$(CURDIR)/bin:$$PATH" go run $(RELEASER) release --snapshot --clean --skip=docker,sign

release: ## build, sign and publish a release of the tag that is checked out; run by the workflow
	GOBIN="$(CURDIR)/bin" go install $(SYFT)
	PATH="$(CURDIR)/bin:$$PATH" go run $(RELEASER) release --clean

publish-client: ## publish clients/typescript to npm as crossgate-client, with the tag's version; run by the workflow
	cp LICENSE clients/typescript/
	cd clients/typescript && npm ci --ignore-scripts --no-audit --no-fund && npm version --no-git-tag-version "$(VERSION:v%=%)" && npm run build && npm publish --provenance --access public $(if $(findstring -,$(VERSION)),--tag next)

vulnerabilities: ## report known vulnerabilities in code that is called, by the database at vuln.go.dev
	go run $(SCANNER) ./...
	cd sandbox && go run $(SCANNER) ./cmd/...

check: lint test ## everything that a change must pass
