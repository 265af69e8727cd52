package stories_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestStories runs testdata/*.txtar against a gateway in front of a sandbox, which is the story's own when it controls
// the world. Beside testscript's own words a story uses:
//
//	pick order STATE [TITLE]      sets $HASH and $ID to an order of the sandbox, the first of its transaction
//	pick other TITLE              sets $HASH to a transaction of the sandbox that created no order
//	pick taker N                  sets $TAKER; pick account N sets $ACCOUNT, $WALLET on Solana and $TRON; N counts from 1
//	pick token CHAIN SYMBOL       sets $TOKEN
//	ask METHOD PATH [NAME:VALUE]  asks the gateway, with headers
//	control NAME JSON             moves the sandbox; its answer can be looked at like the gateway's
//	only VENUE                    has every other venue answer garbage
//	status REGEXP                 of the last answer
//	header NAME REGEXP            of the last answer
//	json PATH VALUE               a member of the last answer: give.chainId, 0.amount, orders.length
//	eventually [!]PATH VALUE      asks again until the member has the value, or with ! another one
//	save NAME PATH                keeps a member as $NAME
func TestStories(t *testing.T) {
	reading := readingFront(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			text, err := os.ReadFile(filepath.Join("testdata", strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")+".txtar"))
			if err != nil {
				return err
			}
			front := reading
			if controls.Match(text) {
				front = startFront(e.T().(testing.TB))
			}
			e.Values[storyKey{}] = &story{gateway: front.url, sandbox: front.world.URL()}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"pick":       word((*story).pick),
			"ask":        word((*story).ask),
			"send":       word((*story).send),
			"control":    word((*story).control),
			"only":       word((*story).only),
			"status":     word((*story).status),
			"header":     word((*story).header),
			"json":       word((*story).json),
			"eventually": word((*story).eventually),
			"save":       word((*story).save),
		},
	})
}

// controls matches the words that change the world.
var controls = regexp.MustCompile(`(?m)^(control|only) `)

type storyKey struct{}

// story is what a running story remembers.
type story struct {
	gateway, sandbox string

	method, url, sent string
	headers           []string
	response          *http.Response
	body              []byte
}

// word turns a method into a testscript command.
func word(do func(*story, *testscript.TestScript, []string) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, negated bool, arguments []string) {
		err := do(ts.Value(storyKey{}).(*story), ts, arguments)
		if negated && err == nil {
			ts.Fatalf("unexpected success")
		}
		if !negated {
			ts.Check(err)
		}
	}
}

func (s *story) pick(ts *testscript.TestScript, arguments []string) error {
	var world worldJSON
	if err := s.world(&world); err != nil {
		return err
	}
	switch what := arguments[0]; what {
	case "order":
		return pickOrder(ts, world, arguments[1:])
	case "other":
		for _, each := range world.OtherTransactions {
			if strings.Contains(each.Title, arguments[1]) {
				ts.Setenv("HASH", each.TransactionHash)
				return nil
			}
		}
	case "token":
		for _, t := range world.Tokens {
			if fmt.Sprint(t.ChainID) == arguments[1] && t.Symbol == arguments[2] {
				ts.Setenv("TOKEN", t.Address)
				return nil
			}
		}
	case "taker", "account":
		n, err := strconv.Atoi(arguments[1])
		if err != nil {
			return err
		}
		if what == "taker" {
			ts.Setenv("TAKER", world.Takers[n-1].Address)
			return nil
		}
		ts.Setenv("ACCOUNT", world.Accounts[n-1].Address)
		ts.Setenv("WALLET", world.Accounts[n-1].Wallet)
		ts.Setenv("TRON", addressText(common.HexToAddress(world.Accounts[n-1].Address).Bytes(), tronID))
		return nil
	}
	return fmt.Errorf("the world has no %s", strings.Join(arguments, " "))
}

func pickOrder(ts *testscript.TestScript, world worldJSON, wanted []string) error {
	var seen []string
	for _, o := range world.Orders {
		if slices.Contains(seen, o.CreationTxHash) {
			continue
		}
		seen = append(seen, o.CreationTxHash)
		if o.State == wanted[0] && (len(wanted) == 1 || strings.Contains(o.Title, wanted[1])) {
			ts.Setenv("HASH", o.CreationTxHash)
			ts.Setenv("ID", o.OrderID)
			return nil
		}
	}
	return fmt.Errorf("the world has no order %s", strings.Join(wanted, " "))
}

func (s *story) ask(_ *testscript.TestScript, arguments []string) error {
	s.method, s.url, s.sent, s.headers = arguments[0], s.gateway+arguments[1], "", arguments[2:]
	return s.again()
}

func (s *story) send(_ *testscript.TestScript, arguments []string) error {
	s.method, s.url, s.sent, s.headers = http.MethodPost, s.gateway+arguments[0], arguments[1], arguments[2:]
	return s.again()
}

func (s *story) again() (err error) {
	const patience = 20 // attempts, as in ask
	for attempt := 0; err == nil && (attempt == 0 || attempt < patience && isLate(s.response.StatusCode, s.body)); attempt++ {
		err = s.fetch(s.method, s.url, strings.NewReader(s.sent), s.headers)
	}
	return err
}

func (s *story) control(_ *testscript.TestScript, arguments []string) error {
	err := s.fetch(http.MethodPost, s.sandbox+"/sandbox/"+arguments[0], strings.NewReader(arguments[1]), nil)
	if err == nil && s.response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", s.response.Status, s.body)
	}
	return err
}

func (s *story) only(ts *testscript.TestScript, arguments []string) error {
	var world worldJSON
	if err := s.world(&world); err != nil {
		return err
	}
	for _, venue := range world.Venues {
		if venue.Name == arguments[0] {
			continue
		}
		if err := s.control(ts, []string{"fault", fmt.Sprintf(`{"target":%q,"kind":"wrong"}`, venue.Name)}); err != nil {
			return err
		}
	}
	return nil
}

// world reads the current sandbox.
func (s *story) world(into *worldJSON) error {
	if err := s.fetch(http.MethodGet, s.sandbox+"/sandbox/world", nil, nil); err != nil {
		return err
	}
	return json.Unmarshal(s.body, into)
}

func (s *story) fetch(method, url string, body io.Reader, headers []string) error {
	request, err := http.NewRequestWithContext(context.Background(), method, url, body)
	if err != nil {
		return err
	}
	for _, each := range headers {
		name, value, _ := strings.Cut(each, ":")
		request.Header.Set(name, value)
	}
	if s.response, err = http.DefaultClient.Do(request); err != nil {
		return err
	}
	defer s.response.Body.Close()
	s.body, err = io.ReadAll(s.response.Body)
	return err
}

func (s *story) status(_ *testscript.TestScript, arguments []string) error {
	if got := fmt.Sprint(s.response.StatusCode); !regexp.MustCompile("^" + arguments[0] + "$").MatchString(got) {
		return fmt.Errorf("status %s, want %s: %.600s", got, arguments[0], s.body)
	}
	return nil
}

func (s *story) header(_ *testscript.TestScript, arguments []string) error {
	if got := s.response.Header.Get(arguments[0]); !regexp.MustCompile(arguments[1]).MatchString(got) {
		return fmt.Errorf("header %s = %q, want %s", arguments[0], got, arguments[1])
	}
	return nil
}

func (s *story) json(_ *testscript.TestScript, arguments []string) error {
	got, err := s.member(arguments[0])
	if err != nil {
		return err
	}
	if got != arguments[1] {
		return fmt.Errorf("%s = %s, want %s", arguments[0], got, arguments[1])
	}
	return nil
}

func (s *story) eventually(ts *testscript.TestScript, arguments []string) error {
	const patience = time.Minute
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		path, isOther := strings.CutPrefix(arguments[0], "!")
		got, err := s.member(path)
		if err == nil && (got == arguments[1]) == isOther {
			err = fmt.Errorf("%s = %s, want %s", arguments[0], got, arguments[1])
		}
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-tick.C
		if err := s.again(); err != nil {
			return err
		}
	}
}

func (s *story) save(ts *testscript.TestScript, arguments []string) error {
	got, err := s.member(arguments[1])
	ts.Setenv(arguments[0], got)
	return err
}

// member returns a member of the last body as text: strings bare, everything else as JSON.
func (s *story) member(path string) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(s.body))
	decoder.UseNumber()
	var at any
	if err := decoder.Decode(&at); err != nil {
		return "", fmt.Errorf("body %.200q: %w", s.body, err)
	}
	for name := range strings.SplitSeq(path, ".") {
		switch node := at.(type) {
		case map[string]any:
			member, present := node[name]
			if !present {
				return "", fmt.Errorf("no member %s of %s in %.600s", name, path, s.body)
			}
			at = member
		case []any:
			if name == "length" {
				at = len(node)
				continue
			}
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(node) {
				return "", fmt.Errorf("no item %s of %s in %.600s", name, path, s.body)
			}
			at = node[i]
		default:
			return "", fmt.Errorf("nothing below %v of %s", at, path)
		}
	}
	if text, isText := at.(string); isText {
		return text, nil
	}
	text, err := json.Marshal(at)
	return string(text), err
}
