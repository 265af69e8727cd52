package crossgate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crossgate/internal/must"
)

// A room is a package's line in the map of ARCHITECTURE.md: what it may import from this module.
type room struct {
	imports string // packages by path below the module, separated by spaces
	instead string // what to do when something else seems to be needed
}

var house = map[string]room{
	"chain":        {"", "the vocabulary knows nobody: put what needs a neighbour into that neighbour"},
	"chain/solana": {"chain", "a wire format knows no order and no swap: what reads meaning out of it belongs to order/onchain or upstream/solana"},
	"chain/revert": {"chain/words", "a wire format knows no order and no swap: which errors a contract has belongs to who calls it"},
	"chain/words":  {"chain", "a wire format knows no order and no swap: what reads meaning out of it belongs to order/onchain or order/creation"},
	"token":        {"cache/flight cache/recent chain", "state what is needed as token.Reader or token.PriceSource and let upstream/* fulfil it"},

	"token/catalog": {"chain token", "reading lists is pure: whoever fetches them and asks the contracts hands the answers in"},

	"order":          {"chain", "the order is pure: state what is needed as order.Source and let upstream/* fulfil it"},
	"order/onchain":  {"chain chain/solana chain/words order", "decoding is pure: whoever reads the chain hands the bytes in"},
	"order/creation": {"chain chain/revert chain/solana chain/words order order/onchain", "what a creation would become is judged here: whoever reads the chain hands its state in"},
	"order/list":     {"chain order order/onchain store", "lists know rows and SQL: what an order is belongs to order, and what an answer needs to order/query"},
	"order/stats":    {"chain order order/ledger order/list store", "statistics know rows and SQL: prices are handed in"},
	"order/ledger":   {"chain order order/list store", "the ledger knows rows and SQL, and no chain that answers: reading one belongs to order/follow"},
	"order/proof":    {"chain order order/ledger store", "what endpoints say is believed or not here: when a chain is read belongs to order/follow"},
	"order/follow":   {"chain order order/ledger order/proof order/stats store", "followers ask chains through order.Source; gateway hands them in"},
	"order/query":    {"cache/recent chain order order/follow order/ledger order/list order/stats store", "answers read the ledger and ask chains; writing belongs to order/follow and order/audit"},
	"order/feed":     {"chain order order/ledger store", "the feed knows the log and who reads it: how entries leave belongs to proxy/orders and webhook"},
	"webhook":        {"internal/publicnet order order/feed store upstream", "subscribers are sent the feed: what is told of orders belongs to order/ledger"},
	"order/audit":    {"chain order order/follow order/ledger order/proof store", "commands read chains through follow.Reader, apart from what a gateway follows"},
	"store":          {"chain quote token", "the database knows tables, not what they mean: queries belong to who keeps something"},
	"quote":          {"cache/flight chain chain/solana token", "the comparison asks venues through quote.Venue; gateway hands them in"},

	"quote/crosschain": {"chain chain/solana order order/creation order/onchain quote token", "what an order costs asks both chains through small interfaces; gateway hands them in"},

	"internal/tlsfiles": {"", "TLS files: what connections carry belongs to who opens them"},
	"cache/flight":      {"", "a mechanism knows no domain word: give it a type parameter or an option"},
	"cache/recent":      {"", "a mechanism knows no domain word: give it a type parameter or an option"},
	"cache":             {"cache/shared", "a mechanism knows no domain word: give it a type parameter or an option"},
	"cache/rfc9111":     {"", "rules without a cache: what keeps or asks belongs to proxy/passthrough"},
	"cache/shared":      {"internal/tlsfiles", "a mechanism knows no domain word: give it a type parameter or an option"},
	"upstream":          {"", "a mechanism knows no domain word: put what knows one into upstream/evm, upstream/venue or upstream/price"},

	"upstream/jsonrpc":           {"cache/recent internal/rawjson upstream", "a mechanism knows no domain word: put what knows one into upstream/evm or upstream/solana"},
	"upstream/jsonrpc/behaviour": {"", "the book of behaviours is a test: what it needs goes into files named _test.go"},
	"upstream/evm/seal":          {"chain internal/rawjson", "a hash knows no node: what asks for what is hashed belongs to upstream/evm"},
	"upstream/evm":               {"cache/recent chain chain/words order order/onchain token upstream upstream/evm/seal upstream/jsonrpc", "the client knows orders and no swap: what a swap needs belongs to upstream/evm/swap"},
	"upstream/evm/swap":          {"cache/recent chain chain/revert chain/words internal/rawjson order order/creation order/onchain quote quote/crosschain token upstream upstream/evm upstream/jsonrpc", "what swaps need of EVM chains: what orders need, too, belongs to upstream/evm"},
	"upstream/tron":              {"chain quote upstream/evm upstream/evm/swap upstream/jsonrpc", "TRON is EVM but for its nodes: what its contracts need belongs to upstream/evm"},
	"upstream/solana":            {"cache/recent chain chain/solana order order/creation order/onchain quote quote/crosschain token upstream upstream/jsonrpc", "an adapter speaks one protocol; what several need belongs to the domain or to upstream"},
	"upstream/venue":             {"chain chain/solana chain/words internal/didyoumean internal/rawjson quote upstream", "an adapter speaks one protocol; what several need belongs to the domain or to upstream"},
	"upstream/tokenlist":         {"internal/publicnet upstream", "a list is fetched here and read by token/catalog"},
	"upstream/price":             {"chain chain/words token upstream", "an adapter speaks one protocol; what several need belongs to the domain or to upstream"},

	"proxy/wire":          {"chain chain/revert order order/creation order/onchain quote quote/crosschain token", "wire is the documented JSON and nothing else: what decides belongs to proxy"},
	"proxy/reference":     {"", "the API's document is read here: what is shown of it belongs to proxy/pages, what there is to proxy"},
	"proxy/web":           {"cache chain internal/release order proxy/shadow quote upstream webhook", "what all pages have, and the operators' page: a page of the API belongs to proxy/pages"},
	"proxy/transport":     {"", "connections know nothing of what they carry: paths and responses belong to proxy"},
	"proxy/passthrough":   {"cache cache/rfc9111 upstream", "an HTTP cache knows requests and responses: what paths mean belongs to proxy"},
	"proxy/shadow":        {"upstream", "answers are compared as JSON: what makes them belongs to proxy"},
	"proxy/quota":         {"cache/recent cache/shared", "a quota knows clients and units: what a path costs belongs to proxy"},
	"proxy/admin":         {"cache chain order proxy/web upstream", "operators see the server and the gateway through two interfaces: what answers clients belongs to proxy"},
	"proxy":               {"cache cache/shared chain chain/solana order order/creation order/query order/stats proxy/passthrough proxy/quota proxy/reference proxy/shadow proxy/transport proxy/web proxy/wire quote quote/crosschain upstream", "the server knows no path by name: a noun has its package, and mounts its routes"},
	"proxy/orders":        {"cache cache/recent chain order order/feed order/list order/query proxy proxy/wire quote token", "a noun parses, asks its interfaces and writes wire; pages belong to proxy/pages"},
	"proxy/creations":     {"cache chain order order/creation proxy proxy/orders proxy/wire quote/crosschain", "a noun parses, asks its interfaces and writes wire; pages belong to proxy/pages"},
	"proxy/mcp":           {"internal/release proxy proxy/reference", "a tool is an operation of the document: what answers it belongs to a noun"},
	"proxy/manage":        {"cache chain order order/creation order/onchain proxy proxy/creations proxy/orders proxy/wire quote", "a noun parses, asks its interfaces and writes wire; pages belong to proxy/pages"},
	"proxy/swaps":         {"cache chain proxy proxy/wire quote token", "a noun parses, asks its interfaces and writes wire; pages belong to proxy/pages"},
	"proxy/pages":         {"cache chain order order/list order/stats proxy proxy/orders proxy/reference proxy/swaps proxy/web proxy/wire quote token", "a page asks the routes of the nouns; what they do not have belongs into theirs"},
	"proxy/pages/compare": {"chain proxy proxy/creations proxy/pages proxy/swaps proxy/web quote quote/crosschain token", "the page of a swap asks the routes of proxy/swaps and proxy/creations"},

	"internal/release":    {"", "it says what a program was built of and knows nobody"},
	"internal/publicnet":  {"", "addresses are judged here: what is asked of them belongs to the caller"},
	"internal/didyoumean": {"", "names are compared here: what they name belongs to the caller"},
	"internal/rawjson":    {"", "JSON is split here: what it says belongs to who decodes it"},
	"config":              {"chain internal/didyoumean", "the file says what is wanted; gateway builds it"},

	"gateway": {
		"cache/shared internal/tlsfiles chain config order order/audit order/follow order/query order/stats proxy proxy/admin proxy/manage proxy/mcp proxy/orders proxy/pages proxy/pages/compare proxy/passthrough proxy/quota proxy/shadow proxy/swaps proxy/web quote internal/release store token token/catalog upstream order/feed proxy/creations quote/crosschain webhook " +
			"upstream/evm upstream/evm/swap upstream/jsonrpc upstream/price upstream/solana upstream/tokenlist upstream/tron upstream/venue",
		"the gateway's parts are introduced to each other here, and the sandbox is none of them",
	},
	"doctor": {
		"cache/shared chain gateway config internal/publicnet order order/audit proxy/web quote store token token/catalog upstream upstream/jsonrpc upstream/price upstream/tokenlist upstream/venue",
		"the doctor calls what a configuration names; what a running gateway does belongs to gateway",
	},
	"cmd/crossgate": {"chain clients/go config doctor gateway internal/didyoumean internal/release order order/audit order/ledger proxy/web store", "the command reads flags; the building of parts belongs to gateway"},

	"sandbox/contracts":   {"", "the world outside shares words with the gateway (chain, order) and nothing that computes, or it would repeat its mistakes"},
	"sandbox/balancer":    {"sandbox/jsonrpc", "a mechanism of providers: it knows the shape of JSON-RPC, and no chain"},
	"sandbox/jsonrpc":     {"", "a mechanism of nodes: methods and limits belong to the node"},
	"sandbox/solana":      {"sandbox/jsonrpc", "the world outside shares words with the gateway (chain, order) and nothing that computes, or it would repeat its mistakes"},
	"sandbox/tron":        {"sandbox/jsonrpc", "the world outside shares words with the gateway (chain, order) and nothing that computes, or it would repeat its mistakes"},
	"sandbox/venues":      {"chain sandbox/contracts sandbox/solana", "the world outside shares words with the gateway (chain, order) and nothing that computes, or it would repeat its mistakes"},
	"sandbox":             {"chain order sandbox/balancer sandbox/contracts sandbox/jsonrpc sandbox/solana sandbox/tron sandbox/venues", "the world outside shares words with the gateway (chain, order) and nothing that computes, or it would repeat its mistakes"},
	"sandbox/sandboxtest": {"sandbox", "a world for tests, and nothing else: what a test wants of it belongs to the test"},
	"sandbox/cmd/sandbox": {"chain config gateway internal/release order sandbox", "the command starts a world and a gateway; their insides belong to them"},

	"sandbox/stories":         {"", "stories are tests: what they need goes into files named _test.go"},
	"sandbox/processes":       {"", "tests of the command are tests: what they need goes into files named _test.go"},
	"sandbox/adapters/course": {"chain internal/must order order/follow order/query store", "what tests of adapters share: how to follow a chain, which is each adapter's own, belongs to its test"},
	"sandbox/adapters/evm":    {"", "tests of adapters are tests: what they need goes into files named _test.go"},
	"sandbox/adapters/solana": {"", "tests of adapters are tests: what they need goes into files named _test.go"},
	"sandbox/adapters/tron":   {"", "tests of adapters are tests: what they need goes into files named _test.go"},
	"sandbox/adapters/venue":  {"", "tests of adapters are tests: what they need goes into files named _test.go"},

	"internal/redistest":    {"internal/linktest internal/must", "a server for tests, of the standard library alone: what it is tested with belongs to the tests"},
	"internal/postgrestest": {"internal/linktest", "a server for tests, of the standard library alone: what it is tested with belongs to the tests"},
	"internal/linktest":     {"", "a link for tests, of the standard library alone: it knows nothing of what it carries"},
	"internal/rpctest":      {"", "a server of JSON-RPC for tests: its answers belong to the tests"},
	"internal/pooltest":     {"internal/must upstream", "a pool of servers for tests: what is asked of them belongs to the tests"},
	"internal/recorded":     {"internal/must", "the recorded material for tests: what is read from it belongs to the tests"},
	"internal/measured":     {"internal/must", "what a test's process measures: what is expected of it belongs to the test"},
	"internal/golden":       {"internal/must", "files that tests compare text with: what is compared belongs to the test"},
	"internal/must":         {"", "the end of a test at an error, of the standard library alone: what a test expects belongs to the test"},

	"clients/go":     {"", "a client knows nothing but the HTTP API: programs outside of this tree import it"},
	"examples/taker": {"clients/go", "a program outside of this tree knows the client and nothing of the gateway"},

	"deploy": {"", "what runs a gateway is no code: its tests load it"},
	"bench":  {"", "benchmarks are tests: what they need goes into files named _test.go"},
	"":       {"", "the root holds the test of this table and no code"},
}

// A door is where a third-party module may come in; the longest matching path counts.
type door struct {
	path    string
	open    string // packages that may import it, separated by spaces; x/... is x and everything below
	tests   string // packages whose tests may import it too; ... is all
	instead string
}

const (
	worldOnly  = "the node of go-ethereum stays out of the gateway: only the sandbox, a module of its own, runs it"
	testsOnly  = "this is for tests"
	abiLibrary = "go-ethereum is a library for ABI, RLP, addresses and Keccak only, in the packages that speak EVM"
)

var doors = []door{
	{"github.com/gin-gonic/gin", "proxy proxy/creations proxy/manage proxy/orders proxy/swaps proxy/pages/...", "bench", "HTTP is served by proxy: return a value or an error to it"},
	{"github.com/modelcontextprotocol/go-sdk", "proxy/mcp", "sandbox/stories", "agents are served by proxy/mcp, as one more client of the paths"},
	{"golang.org/x/net/http/httpguts", "config proxy/transport cache/rfc9111", "", "what a header may hold is decided where it is read"},
	{"golang.org/x/net/publicsuffix", "proxy/admin", "", "which names outsiders can have matters where they are refused"},
	{"github.com/dgraph-io/ristretto/v2", "cache", "bench", "remember answers through cache.Cache"},
	{"github.com/dunglas/httpsfv", "cache/rfc9111", "", "structured fields are read where the rules about them are"},
	{"github.com/gomodule/redigo", "cache/shared", "cache", "what replicas share is behind shared.Cache"},
	{"github.com/sony/gobreaker/v2", "cache/shared", "", "call services through upstream.Endpoint, which has a breaker"},
	{"golang.org/x/time", "upstream", "", "call services through upstream.Endpoint, which has a rate budget"},
	{"github.com/coder/websocket", "upstream/evm", "", "heads are announced by upstream/evm: call services through upstream.Endpoint"},
	{"github.com/KimMachineGun/automemlimit", "cmd/crossgate", "", "memory is the process's, and so the command's"},
	{"github.com/coreos/go-systemd/v22", "cmd/crossgate", "", "the supervisor is the process's, and so the command's"},
	{"github.com/spf13/cobra", "cmd/crossgate", "", "command lines are read by the command: parameters are for everybody else"},
	{"github.com/spf13/pflag", "cmd/crossgate", "", "command lines are read by the command: parameters are for everybody else"},
	{"golang.org/x/sync", "sandbox/cmd/sandbox", "", "who starts a goroutine waits for it: a WaitGroup or a channel does"},
	{"modernc.org/sqlite", "store", "", "the database is opened by store: write queries over store.DB"},
	{"github.com/jackc/pgx/v5", "store", "", "the database is opened by store: write queries over store.DB"},
	{"github.com/pressly/goose/v3", "store", "", "the schema belongs to store: add a file to store/migrations"},
	{"go.yaml.in/yaml/v3", "config chain proxy/reference", "deploy sandbox/stories", "settings come from config, facts of chains from chain"},
	{"github.com/holiman/uint256", "chain", "sandbox/...", "amounts are chain.Amount"},
	{"github.com/mr-tron/base58", "chain upstream/solana sandbox/solana", "sandbox/...", "addresses and hashes are read and written by chain"},
	{"golang.org/x/crypto", "chain", "sandbox/stories", "hashes are made by chain, Keccak by go-ethereum's crypto in order/onchain"},
	{"filippo.io/edwards25519", "chain/solana", "", "accounts of Solana's programs are derived by solana.ProgramAddress"},
	{"rsc.io/qr", "proxy/pages", "", "codes of pages are drawn with the pages"},
	{"github.com/shopspring/decimal", "quote quote/crosschain upstream/venue proxy proxy/swaps proxy/pages/compare", "upstream/evm/swap upstream/solana sandbox/adapters/venue", "percents are decimals in quote, its venues and the face; prices are big.Rat"},

	{"go.opentelemetry.io/otel", "cache/shared order/... quote store upstream/... proxy gateway webhook cmd/... internal/measured", "...", "pure packages have no spans: their callers do"},
	{"go.opentelemetry.io/otel/sdk", "gateway internal/measured", "...", "spans are made with the OpenTelemetry API; where they go is decided in gateway"},
	{"go.opentelemetry.io/otel/exporters", "gateway", "", "where spans and measurements go is decided in gateway"},
	{"github.com/go-logr/logr", "gateway", "sandbox/stories", "log with log/slog: this is how OpenTelemetry's libraries do"},
	{"go.opentelemetry.io/contrib/instrumentation/runtime", "gateway", "", "where measurements go is decided in gateway"},
	{"github.com/prometheus/client_golang", "gateway", "", "measure with the OpenTelemetry API: gateway exports it"},
	{"github.com/prometheus/client_model", "", "sandbox/stories", testsOnly},
	{"github.com/prometheus/common", "", "sandbox/stories", testsOnly},
	{"go.opentelemetry.io/proto/otlp", "", "sandbox/stories", "spans leave by the SDK's exporter; only tests read what left"},
	{"google.golang.org/protobuf", "", "sandbox/stories", "spans leave by the SDK's exporter; only tests read what left"},
	{"google.golang.org/protobuf/encoding/protowire", "sandbox/tron", "", "TRON's transactions are read by sandbox/tron"},

	{"github.com/agext/levenshtein", "internal/didyoumean", "", "names are compared by internal/didyoumean"},

	{"github.com/gagliardetto/solana-go", "sandbox/...", "", "the gateway reads Solana by itself (docs/decisions/0006); the library is for the sandbox"},
	{"github.com/gagliardetto/binary", "sandbox/...", "", "the gateway reads Solana by itself (docs/decisions/0006); the library is for the sandbox"},
	{"github.com/ethereum/go-ethereum", "sandbox/...", "", worldOnly},
	{"github.com/ethereum/go-ethereum/accounts/abi", "chain/revert sandbox/...", "order/onchain upstream/evm upstream/venue", abiLibrary},
	{"github.com/ethereum/go-ethereum/common", "chain/revert upstream/evm/swap upstream/venue sandbox/...", "order/onchain upstream/evm", abiLibrary},
	{"github.com/ethereum/go-ethereum/rlp", "upstream/evm upstream/evm/seal upstream/evm/swap", "", abiLibrary},
	{"github.com/ethereum/go-ethereum/crypto", "chain/words order/onchain upstream/evm/seal upstream/evm/swap sandbox/...", "upstream/evm upstream/venue", abiLibrary},

	{"github.com/getkin/kin-openapi", "", "...", testsOnly},
	{"github.com/santhosh-tekuri/jsonschema", "", "...", testsOnly},
	{"github.com/google/go-cmp", "internal/golden", "...", testsOnly},
	{"pgregory.net/rapid", "", "...", testsOnly},
	{"go.uber.org/goleak", "", "...", testsOnly},
	{"github.com/rogpeppe/go-internal", "", "...", testsOnly},
}

// modules are the folders with a go.mod whose packages the tables cover.
var modules = []string{".", "sandbox", "bench"}

// listed is the output of go list for a package.
type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

func TestImportsGoDownOnly(t *testing.T) {
	found := make(map[string]bool)
	for _, p := range everywhere(t) {
		name := below(p.ImportPath)
		found[name] = true
		r, known := house[name]
		if !known {
			t.Errorf("package %s has no line in the house of layout_test.go: add one, and its place to ARCHITECTURE.md", p.ImportPath)
			continue
		}
		allowed := strings.Fields(r.imports)
		for _, path := range p.Imports {
			if isOurs(path) && !slices.Contains(allowed, below(path)) {
				t.Errorf("%s imports %s: %s", p.ImportPath, path, r.instead)
			}
		}
	}
	for name := range house {
		if !found[name] {
			t.Errorf("package %q of the house in layout_test.go is not in the tree: take its line out", name)
		}
	}
}

func TestThirdPartyModulesComeInByTheirDoor(t *testing.T) {
	for _, p := range everywhere(t) {
		name := below(p.ImportPath)
		for _, path := range p.Imports {
			checkDoor(t, p.ImportPath, path, func(d door) bool { return fits(name, d.open) })
		}
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			checkDoor(t, "a test of "+p.ImportPath, path, func(d door) bool { return fits(name, d.open) || fits(name, d.tests) })
		}
	}
}

// TestGatewayHasNoNode keeps the sandbox and its node out of the binary that people deploy.
func TestGatewayHasNoNode(t *testing.T) {
	const ethereum = "github.com/ethereum/go-ethereum/"
	for _, p := range list(t, ".", "-deps", "./cmd/crossgate") {
		if strings.HasPrefix(p.ImportPath, "crossgate/sandbox") {
			t.Errorf("cmd/crossgate contains %s: %s", p.ImportPath, worldOnly)
		}
		part, isEthereum := strings.CutPrefix(p.ImportPath, ethereum)
		if isEthereum && !fits(part, "accounts/abi common/... crypto/... log rlp/... params/...") {
			t.Errorf("cmd/crossgate contains %s: %s", p.ImportPath, worldOnly)
		}
	}
}

// TestRootModuleListsWhatItShips keeps what the sandbox's node needs out of the go.mod that people audit.
func TestRootModuleListsWhatItShips(t *testing.T) {
	required := requirements(t, ".")
	for _, path := range []string{
		"github.com/cockroachdb/pebble", "github.com/cockroachdb/pebble/v2", "github.com/syndtr/goleveldb", "github.com/crate-crypto/go-eth-kzg",
		"github.com/gorilla/websocket", "github.com/urfave/cli/v2",
	} {
		if required[path] != "" {
			t.Errorf("go.mod lists %s: %s", path, worldOnly)
		}
	}
}

// TestModulesAgreeOnVersions requires the tests to use the same library versions as the gateway.
func TestModulesAgreeOnVersions(t *testing.T) {
	shipped := requirements(t, ".")
	for _, module := range modules[1:] {
		for path, version := range requirements(t, module) {
			if want := shipped[path]; want != "" && version != want {
				t.Errorf("%s/go.mod has %s %s, the gateway %s: go get %s@%s in both", module, path, version, want, path, version)
			}
		}
	}
}

// requirements returns the versions in a go.mod by module path.
func requirements(t *testing.T, module string) map[string]string {
	t.Helper()
	out := must.Get(exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", filepath.Join(module, "go.mod")).Output())(t)
	var file struct {
		Require []struct{ Path, Version string }
	}
	must.Do(t, json.Unmarshal(out, &file))
	versions := make(map[string]string)
	for _, r := range file.Require {
		versions[r.Path] = r.Version
	}
	return versions
}

func checkDoor(t *testing.T, importer, path string, isOpen func(door) bool) {
	t.Helper()
	if isOurs(path) || isStandard(path) {
		return
	}
	var through *door
	for i, d := range doors {
		if fits(path, d.path+"/...") && (through == nil || len(d.path) > len(through.path)) {
			through = &doors[i]
		}
	}
	switch {
	case through == nil:
		t.Errorf("%s imports %s, which has no door: give it one in layout_test.go and a line in docs/decisions/0002-dependencies.md, or do without", importer, path)
	case !isOpen(*through):
		t.Errorf("%s imports %s: %s", importer, path, through.instead)
	}
}

// fits reports whether name matches one of the space-separated patterns.
func fits(name, patterns string) bool {
	for _, pattern := range strings.Fields(patterns) {
		parent, whole := strings.CutSuffix(pattern, "/...")
		if pattern == "..." || name == pattern || whole && (name == parent || strings.HasPrefix(name, parent+"/")) {
			return true
		}
	}
	return false
}

const module = "crossgate"

func isOurs(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// isStandard relies on the rule that import paths outside the standard library begin with a domain.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// below returns a package's path within the module, empty for the root.
func below(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

// everywhere returns the packages of all modules.
func everywhere(t *testing.T) (all []listed) {
	t.Helper()
	for _, module := range modules {
		all = append(all, list(t, module, "./...")...)
	}
	return all
}

// list runs go list in a module. It also reads the directories of the tree, so that go test notices when a cached
// result is out of date: it does not see what another program reads.
func list(t *testing.T, module string, arguments ...string) []listed {
	t.Helper()
	must.Do(t, filepath.WalkDir(".", func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && (entry.Name() == ".git" || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		return err
	}))
	arguments = append([]string{"list", "-json=ImportPath,Imports,TestImports,XTestImports"}, arguments...)
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = module
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, complaints.String())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
