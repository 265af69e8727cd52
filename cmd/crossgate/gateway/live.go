package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

const (
	// examineLimit is how long an endpoint may take to say who it is, waiting for its rate included.
	examineLimit = 15 * time.Second
	// examinedAtOnce bounds how many endpoints are asked at a time.
	examinedAtOnce = 32
)

// Finding is what became of asking one endpoint who it is.
type Finding struct {
	Of       string // the chain, venue or price service that it is configured for
	Endpoint string
	Head     uint64   // newest block of its chain; zero when it told none
	Said     string   // in words; empty when it said nothing of use
	Wrong    []string // what is not as configured; nothing when all is well
}

// Examine asks every endpoint of c who it is: chains for their identity, their height and the code at the
// contracts that the gateway relies on, services whether they answer. Heads of one chain are compared. The findings have the order of the file.
func Examine(ctx context.Context, c config.Config) ([]Finding, error) {
	if err := Check(c); err != nil {
		return nil, err
	}
	var examined examination
	lags := make(map[string]uint64)
	registry := c.Registry()
	for _, each := range c.Chains {
		known, _ := registry.Chain(each.ID)
		of := fmt.Sprintf("%s (%d)", known.Name, known.ID)
		lags[of] = c.LagOf(each, known.BlockTime)
		examined.add(of, each.Endpoints, func(ctx context.Context, e *upstream.Endpoint, f *Finding) error {
			return examineChain(ctx, known, e, f)
		})
	}
	for _, each := range c.Venues {
		examined.add(each.Name, each.Endpoints, examineService)
	}
	if service := c.Prices.DefiLlama; service != nil {
		examined.add("defillama", service.Endpoints, examineService)
	}
	findings, err := examined.run(ctx)
	for of, most := range lags {
		compareHeads(findings, of, most)
	}
	return findings, err
}

// compareHeads names those endpoints of a chain whose head is more than most blocks away from that of the majority.
func compareHeads(findings []Finding, of string, most uint64) {
	var heads []uint64
	for _, f := range findings {
		if f.Of == of && f.Head > 0 {
			heads = append(heads, f.Head)
		}
	}
	if len(heads) == 0 {
		return
	}
	slices.Sort(heads)
	usual := heads[len(heads)/2]
	for i := range findings {
		switch f := &findings[i]; {
		case f.Of != of || f.Head == 0:
		case f.Head+most < usual:
			f.Wrong = append(f.Wrong, fmt.Sprintf("%d blocks behind the others", usual-f.Head))
		case f.Head > usual+most:
			f.Wrong = append(f.Wrong, fmt.Sprintf("%d blocks ahead of the others", f.Head-usual))
		}
	}
}

// examination is what there is to examine.
type examination struct {
	findings []Finding
	tasks    []func(context.Context, *Finding) error
}

func (x *examination) add(of string, endpoints []config.Endpoint, ask func(context.Context, *upstream.Endpoint, *Finding) error) {
	for _, each := range endpoints {
		x.findings = append(x.findings, Finding{Of: of, Endpoint: each.Name})
		x.tasks = append(x.tasks, func(ctx context.Context, f *Finding) error {
			e, err := newEndpoint(each, 0, nil)
			if err != nil {
				return err
			}
			defer e.Close()
			ctx, cancel := context.WithTimeout(ctx, examineLimit)
			defer cancel()
			return ask(ctx, e, f)
		})
	}
}

func (x *examination) run(ctx context.Context) ([]Finding, error) {
	var working sync.WaitGroup
	slots := make(chan struct{}, examinedAtOnce)
	for i, task := range x.tasks {
		slots <- struct{}{}
		working.Go(func() {
			defer func() { <-slots }()
			if err := task(ctx, &x.findings[i]); err != nil {
				x.findings[i].Wrong = append(x.findings[i].Wrong, err.Error())
			}
		})
	}
	working.Wait()
	return x.findings, ctx.Err()
}

// contractsOf are those that the gateway relies on, by the names that the file has for them.
func contractsOf(c chain.Chain) (names []string, addresses []chain.Address) {
	for _, each := range []struct {
		name    string
		address chain.Address
	}{
		{"dlnSource", c.Contracts.DlnSource},
		{"dlnDestination", c.Contracts.DlnDestination},
		{"gate", c.Contracts.Gate},
		{"externalCallAdapter", c.Contracts.ExternalCallAdapter},
		{"router", c.Contracts.Router},
		{"multicall", c.Contracts.Multicall},
	} {
		if !each.address.IsAbsent() {
			names, addresses = append(names, each.name), append(addresses, each.address)
		}
	}
	return names, addresses
}

func examineChain(ctx context.Context, c chain.Chain, e *upstream.Endpoint, f *Finding) error {
	client := jsonrpc.New(upstream.NewPool(e.Name(), e))
	if c.Family == chain.SVM {
		return examineSolana(ctx, c, client, f)
	}
	names, addresses := contractsOf(c)
	var id, height string
	calls := []*jsonrpc.Call{{Method: "eth_chainId", Out: &id}, {Method: "eth_blockNumber", Out: &height}}
	code := make([]string, len(addresses))
	for i, address := range addresses {
		calls = append(calls, &jsonrpc.Call{Method: "eth_getCode", Params: []any{address.String(), "latest"}, Out: &code[i]})
	}
	if err := client.Batch(ctx, calls...); err != nil {
		return err
	}
	if err := errors.Join(calls[0].Err, calls[1].Err); err != nil {
		return err
	}
	native, err := strconv.ParseUint(strings.TrimPrefix(id, "0x"), 16, 64)
	if err != nil {
		return fmt.Errorf("%s: eth_chainId tells no number", e.Name())
	}
	block, err := strconv.ParseUint(strings.TrimPrefix(height, "0x"), 16, 64)
	if err != nil {
		return fmt.Errorf("%s: eth_blockNumber tells no number", e.Name())
	}
	f.Said, f.Head = fmt.Sprintf("chain %d, block %d", native, block), block
	if native != c.Native {
		f.Wrong = append(f.Wrong, fmt.Sprintf("serves chain %d, not %d", native, c.Native))
		f.Head = 0
		return nil // its head and its contracts say nothing then
	}
	for i, name := range names {
		if err := calls[i+2].Err; err != nil {
			f.Wrong = append(f.Wrong, name+": "+err.Error())
		} else if strings.Trim(code[i], "0x") == "" {
			f.Wrong = append(f.Wrong, fmt.Sprintf("%s: no code at %s", name, addresses[i].Format(c.Family)))
		}
	}
	return nil
}

func examineSolana(ctx context.Context, c chain.Chain, client *jsonrpc.Client, f *Finding) error {
	names, addresses := contractsOf(c)
	texts := make([]string, len(addresses))
	for i, address := range addresses {
		texts[i] = address.Format(c.Family)
	}
	var genesis string
	var slot uint64
	var accounts struct {
		Value []*struct {
			Executable bool `json:"executable"`
		} `json:"value"`
	}
	calls := []*jsonrpc.Call{
		{Method: "getGenesisHash", Out: &genesis},
		{Method: "getSlot", Out: &slot},
		{Method: "getMultipleAccounts", Params: []any{texts, map[string]any{"encoding": "base64", "dataSlice": map[string]int{"offset": 0, "length": 0}}}, Out: &accounts},
	}
	if err := client.Batch(ctx, calls...); err != nil {
		return err
	}
	if err := errors.Join(calls[0].Err, calls[1].Err); err != nil {
		return err
	}
	f.Said, f.Head = fmt.Sprintf("genesis %.8s…, slot %d", genesis, slot), slot
	if want := c.Genesis.Format(c.Family); genesis != want {
		f.Wrong = append(f.Wrong, fmt.Sprintf("serves the cluster that begins with %s, not %s", genesis, want))
		f.Head = 0
		return nil
	}
	if calls[2].Err != nil {
		return calls[2].Err
	}
	for i, name := range names {
		if i >= len(accounts.Value) || accounts.Value[i] == nil || !accounts.Value[i].Executable {
			f.Wrong = append(f.Wrong, fmt.Sprintf("%s: no program at %s", name, texts[i]))
		}
	}
	return nil
}

// examineService wants any answer at all: what a service says at its base address is its own affair.
func examineService(ctx context.Context, e *upstream.Endpoint, f *Finding) error {
	response, err := e.Do(ctx, upstream.Request{})
	var failed *upstream.Error
	if errors.As(err, &failed) && failed.Status != 0 && failed.Class != upstream.ServerError {
		response.Status, err = failed.Status, nil // a page, a redirect, too many requests: somebody is there
	}
	if err != nil {
		return err
	}
	f.Said = fmt.Sprintf("answers (HTTP %d)", response.Status)
	if response.Status == http.StatusUnauthorized || response.Status == http.StatusForbidden {
		f.Said += ": a key may be wanted"
	}
	return nil
}
