package stories_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
)

// examples is the folder of programs that show how to use a gateway.
var examples = filepath.Join("..", "..", "examples")

// TestExamples runs each example against a sandbox, as its page says.
func TestExamples(t *testing.T) {
	t.Parallel()
	f := startFront(t)
	t.Run("curl", func(t *testing.T) { testCurlExamples(t, f) })
	t.Run("taker", func(t *testing.T) { testTakerExample(t, f) })
	t.Run("wallet", func(t *testing.T) { testWalletExample(t, f) })
}

// testCurlExamples runs every block of curl.md in a shell of its own. Its output must look like an answer.
func testCurlExamples(t *testing.T, f front) {
	want(t, "curl", "jq", "bash")
	page := must.Get(os.ReadFile(filepath.Join(examples, "curl.md")))(t)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) < 8 {
		t.Fatalf("curl.md has %d blocks, want one for each question", len(blocks))
	}
	atHome := strings.NewReplacer("http://127.0.0.1:8080", f.url, "http://127.0.0.1:8090", f.world.URL())
	for i, block := range blocks {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) {
			out := runExample(t, exec.CommandContext(t.Context(), "bash", "-euc", atHome.Replace(string(block[1]))))
			isJSON := json.Valid(out) && !bytes.Contains(out, []byte(`"errorId"`))
			isStream := bytes.Contains(out, []byte("event: order")) && bytes.Contains(out, []byte("event: final"))
			isHead := bytes.HasPrefix(out, []byte("HTTP/1.1 200 OK"))
			if !isJSON && !isStream && !isHead {
				t.Errorf("%s\nprinted %.500s", block[1], out)
			}
		})
	}
}

// testTakerExample lists the taker's orders, and checks that an invalid address is refused in the API's words.
func testTakerExample(t *testing.T, f front) {
	program := filepath.Join(t.TempDir(), "taker")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.Join(examples, "taker")
	runExample(t, build)

	world := f.facts(t)
	taker := world.Takers[0].Address
	var locked []struct {
		Tokens []struct {
			Destinations []struct {
				Orders []struct {
					ID string `json:"stringValue"`
				} `json:"ordersToUnlock"`
			} `json:"dstChainsLockedAmounts"`
		} `json:"lockedTokens"`
	}
	get(t, f.url+"/api/Satistics/"+taker+"/lockedAssets", &locked)
	out := string(runExample(t, exec.CommandContext(t.Context(), program, "-gateway", f.url, "-taker", taker)))
	orders := 0
	for _, chain := range locked {
		for _, token := range chain.Tokens {
			for _, to := range token.Destinations {
				for _, order := range to.Orders {
					orders++
					if !strings.Contains(out, order.ID) {
						t.Errorf("order %s is to be unlocked, the taker printed\n%s", order.ID, out)
					}
				}
			}
		}
	}
	if orders == 0 {
		t.Fatal("nothing is locked for the taker of the world: this test shows nothing")
	}

	refused, err := exec.CommandContext(t.Context(), program, "-gateway", f.url, "-taker", "nobody").CombinedOutput()
	if err == nil || !bytes.Contains(refused, []byte("(request ")) {
		t.Errorf("taker of an address that is none: %v, %s; want the API's error", err, refused)
	}
}

// swapped matches the wallet's last line: it swaps for some 300 USDC, and for less than one coin.
var swapped = regexp.MustCompile(`swapped in 0x[0-9a-f]{64}: received (29\d\.\d+ USDC|0\.0\d+ ETH), at least `)

// testWalletExample swaps the coin to a token and a part of it back, which needs an approval. It compiles only once.
func testWalletExample(t *testing.T, f front) {
	want(t, "node", "npm")
	directory := filepath.Join(examples, "wallet")
	if _, err := os.Stat(filepath.Join(directory, "node_modules", "viem")); err != nil {
		t.Skip("viem is not there: npm ci in examples/wallet, which make test does")
	}
	typescript.Lock()
	defer typescript.Unlock()
	world := f.facts(t)
	const coin = "0x0000000000000000000000000000000000000000"
	usdc := world.token(t, 1, "USDC")
	for _, swap := range []struct {
		name, in, out, amount string
		command               []string
	}{
		{"coin into token", coin, usdc, "100000000000000000", []string{"npm", "start", "--silent"}},
		{"token into coin", usdc, coin, "100000000", []string{"node", "build/wallet.js"}},
	} {
		t.Run(swap.name, func(t *testing.T) {
			wallet := exec.CommandContext(t.Context(), swap.command[0], swap.command[1:]...)
			wallet.Dir = directory
			wallet.Env = append(os.Environ(), "GATEWAY="+f.url, "RPC_URL="+world.Chains[0].EVMRPC, "CHAIN_ID=1",
				"PRIVATE_KEY="+world.Accounts[1].PrivateKey, "TOKEN_IN="+swap.in, "TOKEN_OUT="+swap.out, "AMOUNT="+swap.amount)
			if out := runExample(t, wallet); !swapped.Match(out) {
				t.Errorf("the wallet printed %s; want whole tokens", out)
			}
		})
	}
	wallet := exec.CommandContext(t.Context(), "node", "build/wallet.js")
	wallet.Dir = directory
	wallet.Env = append(os.Environ(), "GATEWAY=http://127.0.0.1:1", "RPC_URL=http://127.0.0.1:1", "CHAIN_ID=1",
		"PRIVATE_KEY="+world.Accounts[1].PrivateKey, "TOKEN_IN="+coin, "TOKEN_OUT="+usdc, "AMOUNT=1")
	const sentence = "wallet: http://127.0.0.1:1 does not answer; make demo in the repository starts a gateway\n"
	if out, err := wallet.CombinedOutput(); err == nil || string(out) != sentence {
		t.Errorf("the wallet without a gateway: %v, %s; want %s", err, out, sentence)
	}
}

// want skips a test if a program is missing.
func want(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not there; on Debian and Ubuntu make test installs it", program)
		}
	}
}

// runExample returns the output of a command, which must succeed.
func runExample(t *testing.T, command *exec.Cmd) []byte {
	t.Helper()
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, out, complaints.String())
	}
	return out
}

// TestReadmeShowsARealAnswer makes the request of README.md and looks for the lines that it shows.
func TestReadmeShowsARealAnswer(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "README.md")))(t)
	shown := regexp.MustCompile("(?s)<!-- request and answer: begin -->.*curl http://127.0.0.1:8080(\\S+)\n```\n```json\n(.*?)```").FindSubmatch(text)
	if shown == nil {
		t.Fatal("README.md shows no request with its answer")
	}
	var answer json.RawMessage
	get(t, readingFront(t).url+string(shown[1]), &answer)
	var indented bytes.Buffer
	must.Do(t, json.Indent(&indented, answer, "", "  "))
	rest := indented.String()
	for line := range strings.Lines(string(shown[2])) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "…")
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("README.md shows %s, the gateway answers %.300s", line, rest)
		}
		rest = after
	}
}

// TestSchemaTakesTheSandboxesConfiguration validates the sandbox's gateway configuration against the schema.
func TestSchemaTakesTheSandboxesConfiguration(t *testing.T) {
	schema := must.Get(jsonschema.NewCompiler().Compile("../../config/schema.json"))(t)
	var file any
	must.Do(t, yaml.Unmarshal(sandboxtest.Shared(t).Config("orders.db"), &file))
	must.Do(t, schema.Validate(file))
}
