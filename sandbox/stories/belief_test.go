package stories_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/config"
	"crossgate/internal/linktest"
	"crossgate/internal/must"
)

// rules are lies of liar.mjs, each with the smallest parameters that take effect. CROSSGATE_BELIEF=5 runs all of them,
// with five seeds; with 5/40 each seed draws a fortieth.
var rules = []string{
	"cap:5", "detdrop:0.15", "rnologs:0.3", "callempty:1", "callzero:0.3", "logtime:1000", "rfrom:0.2", "logdata:0.15",
	"fleet:3", "fork:130:20", "cache:400", "without:eth_getBlockReceipts", "fin:latest", "fin:zero", "fin:null", "fin:back:40", "fin:near:1",
	"bloomones", "bloomzero", "bloomlack:0.3", "bloomhalf:0.3", "rootwrong", "time:1000", "time:1000:0.2",
	"hashempty:0.3", "droppart:0.3", "caplast:5", "dup:0.3", "removed:0.3", "wronghash:0.2", "logtimems", "shuffle:0.5", "logshift:1",
	"detdropall:0.15", "rnull:0.3", "pend:0.3", "rfail:0.2", "omit:0.3", "omitempty:0.3",
	"idmix:0.2", "order:0.5", "short:0.3", "idstr:0.5", "oneobj:1", "html:0.2", "gzip:0.2", "trunc:0.2", "empty:0.2", "slow:200:0.3",
}

// combined are several lies together.
var combined = []string{
	"detdrop:0.15+time:1000", "callempty:1+trunc:0.2", "rfrom:0.2+callzero:0.3", "wronghash:0.2+slow:200:0.3", "detdropall:0.15+rnologs:0.3",
	"cap:5+logdata:0.15", "fleet:3+detdrop:0.15", "bloomzero+rootwrong+detdrop:0.15", "rnull:0.3+pend:0.3+idmix:0.2",
}

// solanaRules are the lies of solliar.mjs.
var solanaRules = []string{
	"sigcap:5", "detgap:0.15", "sigerr:0.15",
	"siggap:0.2", "sigempty:0.3", "siglag:20", "ignoremin", "txnull:0.3", "txdetnull:0.15", "txversion:0.1", "txnometa:0.15",
	"txnoinner:0.15", "txnologs:0.15", "txtime:1000", "skip:0.2", "blocknull:0.3", "slotlag:20:0.5", "slotahead:20:0.5", "without:getBlock",
}

var solanaCombined = []string{"without:getBlock+sigerr:0.15", "detgap:0.15+txtime:1000", "txdetnull:0.15+siggap:0.2"}

// dayRules are lies to the reader of a single endpoint, which the contracts' storage reveals.
var dayRules = []string{"detdrop:0.15+bloomzero", "cap:5+bloomzero"}

// met is the course of make test: a lie that repeats itself, next to an honest endpoint. It ends as soon as everything
// is right.
const met = "ranges/detdrop:0.15/beside=true"

// drawnPairs is how many pairs of lies each seed after the first draws.
const drawnPairs = 16

// together returns combinations of lies: those of a list and, except for the first seed, randomly drawn pairs.
func together(seed int, listed, rules []string) []string {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for range min(seed-1, 1) * drawnPairs {
		drawn := random.Perm(len(rules))
		listed = append(slices.Clip(listed), rules[drawn[0]]+"+"+rules[drawn[1]])
	}
	return listed
}

// known are lies that reveal the liar, if there is an honest endpoint and final blocks are read in ranges: lists that
// blocks contradict, and headers that do not match their hashes. A lie that looks like a gap, and is only replaced by
// another endpoint's answer, blames no endpoint.
var known = []string{"cap:", "caplast:", "detdrop:", "detdropall:", "droppart:", "logdata:", "logshift:", "removed:", "shuffle:", "wronghash:", "time:", "logtime:", "logtimems"}

// unknowable are lies that leave open which of two endpoints is right, by family.
var unknowable = map[string]string{
	"TRON/time:1000":     "no hash proves a time on TRON; what differs is not called proven",
	"TRON/time:1000:0.2": "likewise",
}

// oneWord matches rules with which something right remains the honest endpoint's word only, by family: an endpoint that
// returns nothing for a call does not confirm a contract's result, the right time of a Solana transaction needs a block
// that two endpoints show, and a transaction that one neither lists nor returns is the other's word.
var oneWord = regexp.MustCompile(`^(EVM|TRON)/.*call(empty|zero):|^Solana/(.*txtime:.*(without:getBlock|skip:)|.*(without:getBlock|skip:).*txtime:` +
	`|.*(sig|detgap).*tx(det|no|version)|.*tx(det|no|version).*(sig|detgap))`)

// beliefs selects the courses to run: the number of seeds, and one course in how many; 0: those of make test.
type beliefs struct{ seeds, of int }

func readBeliefs(t *testing.T) beliefs {
	t.Helper()
	text := os.Getenv("CROSSGATE_BELIEF")
	if text == "" {
		return beliefs{seeds: 1}
	}
	seeds, of, isShare := strings.Cut(text, "/")
	b := beliefs{must.Get(strconv.Atoi(seeds))(t), 1}
	if isShare {
		b.of = must.Get(strconv.Atoi(of))(t)
	}
	return b
}

// have reports whether a seed runs a course.
func (b beliefs) have(seed int, name string) bool {
	if b.of == 0 {
		return name == met
	}
	return crc32.ChecksumIEEE(fmt.Append(nil, seed, name))%uint32(b.of) == 0
}

// verdict is how a gateway's answers compare with the chains.
type verdict struct {
	orders, right  int
	fields         int    // fields that differ, in orders and in what is locked
	wrongButProven int    // answers that differ although everything they rest on is called proven
	unproven       int    // orders whose chains are not proven to their ends
	first, basis   string // of differing answers that are not proven
}

func (v verdict) isRight() bool { return v.right == v.orders && v.fields == 0 && v.unproven == 0 }

func (v verdict) String() string {
	return fmt.Sprintf("%d of %d orders, %d fields differ, %d wrong but called proven, %d not proven (%s); %s",
		v.right, v.orders, v.fields, v.wrongButProven, v.unproven, v.basis, v.first)
}

// tally counts what compare reports.
type tally struct {
	fields int
	first  string
}

func (*tally) Helper() {}

func (n *tally) Errorf(format string, a ...any) {
	if n.fields == 0 {
		n.first = fmt.Sprintf("%.160s", fmt.Sprintf(format, a...))
	}
	n.fields++
}

// judge adds one answer to a verdict.
func (v *verdict) judge(t *testing.T, url string, want any, newest steps) {
	t.Helper()
	response, body := ask(t, http.MethodGet, url, "")
	var got any
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	n := &tally{}
	if err := decoder.Decode(&got); err != nil || response.StatusCode != http.StatusOK {
		n.Errorf("%d: %s", response.StatusCode, body)
	} else {
		compare(n, "", got, want)
	}
	if n.fields > 0 && v.first == "" {
		v.first = url + ": " + n.first
	}
	v.fields += n.fields
	if newest == nil { // it is not an order
		return
	}
	v.orders++
	if n.fields == 0 {
		v.right++
	}
	isProven := newest.areProven(response.Header.Get("Index-Basis"))
	if !isProven {
		v.unproven++
		v.basis = response.Header.Get("Index-Basis")
	}
	if n.fields > 0 && isProven && response.StatusCode < http.StatusInternalServerError {
		v.wrongButProven++
	}
}

var provenBlock = regexp.MustCompile(`(\d+);block=(?:[^,]*;proven=(\d+))?`)

// steps are the blocks of an order's newest steps, by chain ID.
type steps map[string]uint64

// stepsOf returns the steps in a record on the lane's chains, and at least the first block of each of its two chains,
// because the record has a token there.
func (l *lane) stepsOf(record map[string]any) steps {
	newest := steps{}
	for name, value := range record {
		if offer, isOffer := value.(map[string]any); isOffer && strings.HasSuffix(name, "OfferWithMetadata") {
			id := fmt.Sprint(offer["chainId"].(map[string]any)["stringValue"])
			newest[id] = max(newest[id], 1)
		}
	}
	for name, value := range record {
		offer := "giveOfferWithMetadata"
		if strings.Contains(name, "Dst") {
			offer = "takeOfferWithMetadata"
		}
		event, isEvent := value.(map[string]any)
		if inner, isInfo := event["transactionMetadata"].(map[string]any); isInfo {
			event = inner
		}
		if block, err := strconv.ParseUint(fmt.Sprint(event["blockNumber"]), 10, 64); isEvent && err == nil {
			id := fmt.Sprint(record[offer].(map[string]any)["chainId"].(map[string]any)["stringValue"])
			newest[id] = max(newest[id], block)
		}
	}
	for id := range newest {
		if chain, err := strconv.ParseUint(id, 10, 64); err != nil || l.lying[chain] == "" {
			delete(newest, id) // it has one endpoint, or none
		}
	}
	return newest
}

// reported adds the steps of an order that its record does not show: changes of its amounts and its external call.
func (l *lane) reported(t *testing.T, order string, newest steps) steps {
	t.Helper()
	for _, each := range l.ledgers {
		for _, receipt := range each.Receipts {
			for _, log := range receipt.Logs {
				if strings.Contains(log.Data, strings.TrimPrefix(order, "0x")) {
					block := must.Get(strconv.ParseUint(log.BlockNumber, 0, 64))(t)
					id := strconv.FormatUint(each.DeBridgeID, 10)
					newest[id] = max(newest[id], block)
				}
			}
		}
	}
	return newest
}

// areProven reports whether the chains of an Index-Basis are proven up to the steps.
func (s steps) areProven(basis string) bool {
	proven := map[string]uint64{}
	for _, said := range provenBlock.FindAllStringSubmatch(basis, -1) {
		proven[said[1]], _ = strconv.ParseUint(said[2], 10, 64)
	}
	for id, block := range s {
		if proven[id] < block {
			return false
		}
	}
	return true
}

// blame is a log that collects the endpoints that it reports as wrong.
type blame struct {
	slog.Handler
	mu    sync.Mutex
	names map[string]string // with the reason
}

var blaming = regexp.MustCompile(`quarantined for a wrong answer|second reading|found wrong|contradict`)

func (b *blame) Enabled(context.Context, slog.Level) bool { return true }

func (b *blame) WithAttrs([]slog.Attr) slog.Handler { return b }

func (b *blame) WithGroup(string) slog.Handler { return b }

func (b *blame) Handle(_ context.Context, r slog.Record) error {
	if !blaming.MatchString(r.Message) {
		return nil
	}
	why, names := r.Message, ""
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "endpoint", "endpoints":
			names = a.Value.String()
		case "error":
			why += ": " + a.Value.String()
		}
		return true
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range strings.SplitSeq(names, ", ") {
		b.names[name] = why
	}
	return nil
}

// of returns the blamed endpoints whose name has a prefix.
func (b *blame) of(kind string) (blamed []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, why := range b.names {
		if strings.HasPrefix(name, kind) {
			blamed = append(blamed, fmt.Sprintf("%s (%.200s)", name, why))
		}
	}
	slices.Sort(blamed)
	return blamed
}

// lane runs one course at a time: a lying endpoint and a slower honest one in front of each chain.
type lane struct {
	lying, honest map[uint64]string // by the chains' ids
	ledgers       []*ledger
}

const slower = "slow:60" // ms

// lie sets the rule of every lying endpoint of a lane.
func (l *lane) lie(t *testing.T, rule string) {
	t.Helper()
	text := must.Get(json.Marshal(strings.Split(rule, "+")))(t)
	for _, url := range l.lying {
		if response, body := ask(t, http.MethodPost, url+"/rules", string(text)); response.StatusCode != http.StatusOK {
			t.Fatalf("rules: %s", body)
		}
	}
}

// place configures the endpoints of a lane.
func (l *lane) place(c *config.Config, isBeside bool) {
	for i := range c.Chains {
		id := uint64(c.Chains[i].ID)
		if l.lying[id] == "" {
			continue
		}
		c.Chains[i].Endpoints = []config.Endpoint{{Name: fmt.Sprintf("liar %d", id), URL: config.NewSecret(l.lying[id])}}
		if isBeside {
			url := strings.Replace(l.honest[id], "127.0.0.1", "localhost", 1)
			c.Chains[i].Endpoints = append(c.Chains[i].Endpoints, config.Endpoint{Name: fmt.Sprintf("honest %d", id), URL: config.NewSecret(url)})
		}
	}
}

// course is one rule on one lane, with what to expect of the answers.
type course struct {
	isBeside bool   // an honest endpoint
	isCold   bool   // orders are looked up on the chains, once each
	isDay    bool   // meanwhile all are compared with the contracts
	isKnown  bool   // the liar can be identified
	isSingle bool   // something right is a single endpoint's word
	limit    string // why the truth cannot be known despite an honest endpoint; empty: it can
	config   config.Config
	start    func(*testing.T)                       // once the gateway is level
	judge    func(t *testing.T, url string) verdict // nil: by the ledgers
}

const (
	mostLooks, aloneLooks = 500, 20 // at all answers until they are right, where that can be known, and elsewhere
	betweenLooks          = 300 * time.Millisecond
	shortDay              = 12 * time.Second
	levelWithin, aloneFor = 10 * time.Minute, 6 * time.Second // a gateway is, likewise
)

// run serves the configuration and compares the answers, next to an honest endpoint until all are right.
func (c course) run(t *testing.T) {
	t.Helper()
	blamed := &blame{Handler: slog.DiscardHandler, names: map[string]string{}}
	begun := time.Now()
	g, url := serveLogging(t, c.config, slog.New(blamed))
	patience, looks, isKnowable := levelWithin, mostLooks, c.isBeside && c.limit == "" || c.isDay
	if !isKnowable {
		patience, looks = aloneFor, aloneLooks
	}
	level, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	levelErr := g.AwaitIndexed(level)
	if c.start != nil {
		c.start(t)
	}
	var v verdict
	for range looks {
		v = c.judge(t, url)
		if !c.isBeside || c.isSingle || len(blamed.of("liar")) > 0 { // which leaves one endpoint
			v.unproven = 0
		}
		isNamed := !c.isKnown || len(blamed.of("liar")) > 0
		if v.isRight() && isNamed || c.isCold || v.wrongButProven > 0 {
			break
		}
		<-time.After(betweenLooks)
	}
	t.Logf("BELIEF %s: %v in %.0f s; blamed %v", t.Name(), v, time.Since(begun).Seconds(), blamed.of(""))
	if levelErr != nil && isKnowable {
		t.Errorf("not level: %v", levelErr)
	}
	if v.wrongButProven > 0 {
		t.Errorf("%d answers are wrong and called proven", v.wrongButProven)
	}
	if isRight := v.isRight() || c.isCold && v.right == v.orders; isKnowable && !isRight {
		t.Errorf("not right: %v", v)
	}
	if c.isKnown && len(blamed.of("liar")) == 0 {
		t.Error("the liar is not named")
	}
	if honest := blamed.of("honest"); len(honest) > 0 {
		t.Errorf("honest endpoints are blamed: %v", honest)
	}
}

// TestOneWordIsNotBelieved reads the golden ledgers through lying endpoints, alone and next to honest ones, in ranges,
// at the tip and for one order at a time.
func TestOneWordIsNotBelieved(t *testing.T) {
	t.Parallel()
	beliefs := readBeliefs(t)
	for seed := 1; seed <= beliefs.seeds; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			lanes := 1
			if beliefs.of > 0 {
				lanes = 2
			}
			free := make(chan *lane, lanes)
			for range lanes {
				l := &lane{lying: map[uint64]string{}, honest: map[uint64]string{}, ledgers: replayLedgers(t)}
				for _, each := range l.ledgers {
					l.lying[each.DeBridgeID] = seededProxy(t, "liar.mjs", each.rpc, seed)
					l.honest[each.DeBridgeID] = lyingProxy(t, each.rpc, slower)
				}
				free <- l
			}
			meet := func(how, rule string, isBeside bool) {
				name := fmt.Sprintf("%s/%s/beside=%t", how, rule, isBeside)
				if !beliefs.have(seed, name) {
					return
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					l := <-free
					t.Cleanup(func() { free <- l })
					l.meet(t, how, rule, isBeside)
				})
			}
			for _, how := range []string{"ranges", "tip", "cold"} {
				for _, rule := range slices.Concat(rules, together(seed, combined, rules)) {
					meet(how, rule, true)
					meet(how, rule, false)
				}
			}
			for _, rule := range dayRules {
				meet("day", rule, false)
			}
		})
	}
}

// seededProxy starts a proxy whose lies depend on the seed, including those that it repeats every time.
func seededProxy(t *testing.T, program, target string, seed int) (rpc string) {
	t.Helper()
	path := filepath.Join(golden, program)
	if seed > 1 {
		const chosen = "const det=s=>" // a number from 0 to 1 for what may be lied about
		text := string(must.Get(os.ReadFile(path))(t))
		if !strings.Contains(text, chosen) {
			t.Fatalf("%s chooses what it lies about in another way than %q", program, chosen)
		}
		path = filepath.Join(t.TempDir(), program)
		text = strings.Replace(text, chosen, "const det=s=>of1(opt.seed+s);const of1=s=>", 1)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	address := must.Get(linktest.FreeAddress())(t)
	startServer(t, "node", path, "--listen", strings.Split(address, ":")[1], "--target", target, "--seed", strconv.Itoa(seed))
	return "http://" + address
}

// hasGrown reports whether all ledgers are a number of blocks beyond the recorded ones.
func (l *lane) hasGrown(t *testing.T, beyond uint64) bool {
	t.Helper()
	for _, each := range l.ledgers {
		var now struct{ Head uint64 }
		get(t, each.control, &now)
		if now.Head < each.Head+beyond {
			return false
		}
	}
	return true
}

// meet runs a course over the ledgers.
func (l *lane) meet(t *testing.T, how, rule string, isBeside bool) {
	const beyond = 120 // blocks after the recorded ones, which makes those final
	l.lie(t, rule)
	isKnown := isBeside && how == "ranges" && slices.ContainsFunc(known, func(lie string) bool { return strings.HasPrefix(rule, lie) })
	course := course{isBeside: isBeside, isCold: how == "cold", isDay: how == "day", isKnown: isKnown, isSingle: oneWord.MatchString("EVM/" + rule)}
	for _, each := range l.ledgers {
		each.move(t, `{"op":"reset"}`)
		if how == "tip" {
			each.move(t, `{"op":"head","number":100}`)
		} else {
			each.move(t, fmt.Sprintf(`{"op":"advance","blocks":%d}`, beyond))
		}
	}
	lookback := 0
	switch how {
	case "cold":
		lookback = 1
	case "tip":
		course.start = func(t *testing.T) {
			for _, each := range l.ledgers {
				each.move(t, `{"op":"auto","everyMs":30}`)
			}
			await(t, "grown", func() bool { return l.hasGrown(t, beyond) })
		}
	}
	c := must.Get(config.Parse(replayConfig(t, l.ledgers, lookback)))(t)
	c.Index.Asked = oftenAsked
	if how == "day" {
		c.Index.Day = shortDay
	}
	l.place(&c, isBeside)
	course.config = c
	expected, newest := readExpectation(t), map[string]steps{}
	for _, o := range expected.Orders {
		newest[o.OrderID] = l.reported(t, o.OrderID, l.stepsOf(o.json()))
	}
	course.judge = func(t *testing.T, url string) (v verdict) {
		for _, o := range expected.Orders {
			if course.isDay && o.json()["externalCallState"] != "NoExtCall" {
				continue // the recorded adapter does not show the progress of calls
			}
			v.judge(t, fmt.Sprintf("%s/api/Orders/creationTxHash/%s?index=%d", url, o.CreationTxHash, o.IndexInTx), o.json(), newest[o.OrderID])
		}
		if course.isCold {
			return v
		}
		for _, e := range expected.Locked {
			v.judge(t, url+"/api/Satistics/"+e.Taker+"/lockedAssets", lockedJSON(e.Chains), nil)
		}
		return v
	}
	course.run(t)
}
