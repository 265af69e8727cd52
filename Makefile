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

test: ## vet, every test, those of the gateway that start goroutines under the race detector, every benchmark once, what is deployed
	@.ci/test

soak: ## fuzzing, kills, providers that lose and lie, reorgs of every depth, thousands of filters, mutated swap transactions, attacks through nginx, HAProxy, Varnish and Envoy, a fleet whose parts fail, a million orders: an hour on two cores, a table at the end; installs what it needs but Envoy
	@.ci/soak

lint: ## what a machine can say about style
	go run $(LINTER) run
	cd sandbox && go run $(LINTER) run
	cd bench && go run $(LINTER) run

fmt: ## write the sources in their one form
	go run $(LINTER) fmt . ./sandbox ./bench

check-pages: ## the pages in Chromium, and the API's document as Redocly sees it (installs chromium and npm packages)
	@.ci/browser
	cd sandbox && CROSSGATE_PAGES=all CROSSGATE_SHOTS="$(abspath $(SHOTS))" go test -count=1 -timeout 20m -v -run TestPagesInABrowser ./stories
	REDOCLY_TELEMETRY=off npx --yes @redocly/cli@2.77.0 lint --skip-rule operation-4xx-response proxy/openapi.yaml

check-deploy: ## what is deployed, read by the libraries of Helm, Kubernetes and Compose, which are a module of their own
	cd deploy/check && go vet ./... && go test ./...

manifests: ## what the chart makes of deploy/helm/*.yaml, written anew to deploy/helm/rendered
	cd deploy/check && go test -count=1 -run TestRenderedManifests . -args -update

fuzz: ## every fuzz target for FUZZTIME
	@.ci/fuzz $(FUZZTIME)

bench: ## what a request costs, and what the order index carries; BENCH selects, EACH='-short -benchtime 1x' has little of each
	cd bench && go test -timeout 120m -run '^$$' -bench '$(BENCH)' -benchmem $(EACH) .
	go test -timeout 120m -run '^$$' -bench '$(BENCH)' -benchmem $(EACH) $$(grep -rl --include='*_test.go' \
	  --exclude-dir=bench --exclude-dir=node_modules '^func Benchmark' . | xargs -n 1 dirname | sort -u)

bench-report: ## a table of what a hit costs beside nginx, HAProxy, Varnish and a bare handler of net/http
	@.ci/bench-report

gateway: ## the gateway's static binary in bin/
	$(BUILD) -o $(BIN)/ ./cmd/crossgate

build: gateway ## static binaries in bin/
	cd sandbox && $(BUILD) -o $(abspath $(BIN))/ ./cmd/sandbox

reproducible: ## the gateway built at two paths is the same, bit by bit
	@.ci/reproducible

size: ## the gateway's binary is as small as docs/decisions/0038-binary-size.md says
	@.ci/size

contracts: ## compile the sandbox's Solidity again (needs Node.js); the artifacts are committed
	cd sandbox/contracts && npm ci --no-audit --no-fund && node compile.mjs

image: ## the gateway as a container image (needs Docker, Podman or Buildah's docker alias)
	docker build -f deploy/Dockerfile --build-arg VERSION="$(VERSION)" --build-arg COMMIT="$(COMMIT)" --build-arg DATE="$(DATE)" -t crossgate .

release-check: reproducible size ## a release of the working tree in dist/, without images and published nowhere (builds goreleaser and syft first)
	go run $(RELEASER) check
	GOBIN="$(CURDIR)/bin" go install $(SYFT)
	PATH="$(CURDIR)/bin:$$PATH" go run $(RELEASER) release --snapshot --clean --skip=docker,sign

release: ## the release of the tag that is checked out, signed and published: the workflow does this
	GOBIN="$(CURDIR)/bin" go install $(SYFT)
	PATH="$(CURDIR)/bin:$$PATH" go run $(RELEASER) release --clean

publish-client: ## clients/typescript to npm as crossgate-client, with the version of the tag: the workflow does this
	cp LICENSE clients/typescript/
	cd clients/typescript && npm ci --ignore-scripts --no-audit --no-fund && npm version --no-git-tag-version "$(VERSION:v%=%)" && npm run build && npm publish --provenance --access public $(if $(findstring -,$(VERSION)),--tag next)

vulnerabilities: ## known ones in code that is called, by the database at vuln.go.dev
	go run $(SCANNER) ./...
	cd sandbox && go run $(SCANNER) ./cmd/...

check: lint test ## what a change must pass
