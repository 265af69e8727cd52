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
	// identifyTimeout bounds the calls of one endpoint, waiting for its rate limit included.
	identifyTimeout = 15 * time.Second
	// maxIdentified bounds how many endpoints are called at once.
	maxIdentified = 32
)

// Identity is what one endpoint says it serves.
type Identity struct {
	Of       string   `json:"-"` // the chain, venue or price service it is configured for
	Endpoint string   `json:"endpoint"`
	Head     uint64   `json:"head"`    // newest block of its chain; zero when unknown
	First    uint64   `json:"first"`   // oldest block that it keeps, where it says that
	Genesis  string   `json:"genesis"` // hash of the chain's first block; empty when unknown
	Said     string   `json:"said"`    // in words; empty when it gave no usable answer
	Wrong    []string `json:"wrong"`   // what differs from the configuration
}

// compareHeads reports the endpoints of a chain whose head is more than most blocks away from the median.
func compareHeads(identities []Identity, of string, most uint64) {
	var heads []uint64
	for _, f := range identities {
		if f.Of == of && f.Head > 0 {
			heads = append(heads, f.Head)
		}
	}
	if len(heads) == 0 {
		return
	}
	slices.Sort(heads)
	usual := heads[len(heads)/2]
	for i := range identities {
		switch f := &identities[i]; {
		case f.Of != of || f.Head == 0:
		case f.Head+most < usual:
			f.Wrong = append(f.Wrong, fmt.Sprintf("%d blocks behind the others", usual-f.Head))
		case f.Head > usual+most:
			f.Wrong = append(f.Wrong, fmt.Sprintf("%d blocks ahead of the others", f.Head-usual))
		}
	}
}

// compareGenesis reports the endpoints of a chain that begins with another block than most of them say; where as many
// say one thing as another, those that contradict the first.
func compareGenesis(identities []Identity) {
	votes := make(map[string]int)
	for _, each := range identities {
		votes[each.Genesis]++
	}
	delete(votes, "") // of those that do not keep it
	usual := -1
	for i, each := range identities {
		if each.Genesis != "" && (usual < 0 || votes[each.Genesis] > votes[identities[usual].Genesis]) {
			usual = i
		}
	}
	for i, each := range identities {
		if each.Genesis != "" && each.Genesis != identities[usual].Genesis {
			identities[i].Wrong = append(identities[i].Wrong, fmt.Sprintf("its chain begins with block %.10s…, that of %s with %.10s…",
				each.Genesis, identities[usual].Endpoint, identities[usual].Genesis))
		}
	}
}

// identification is the endpoints to call.
type identification struct {
	identities []Identity
	tasks      []func(context.Context, *Identity) error
}

func (x *identification) add(
	of string, endpoints []config.Endpoint, ask func(context.Context, *upstream.Endpoint, *Identity) error,
) {
	for _, each := range endpoints {
		x.identities = append(x.identities, Identity{Of: of, Endpoint: each.Name})
		x.tasks = append(x.tasks, func(ctx context.Context, f *Identity) error {
			e, err := newEndpoint(of, each, 0, nil)
			if err != nil {
				return err
			}
			defer e.Close()
			ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
			defer cancel()
			return ask(ctx, e, f)
		})
	}
}

func (x *identification) run(ctx context.Context) ([]Identity, error) {
	var working sync.WaitGroup
	slots := make(chan struct{}, maxIdentified)
	for i, task := range x.tasks {
		slots <- struct{}{}
		working.Go(func() {
			defer func() { <-slots }()
			if err := task(ctx, &x.identities[i]); err != nil {
				x.identities[i].Wrong = append(x.identities[i].Wrong, err.Error())
			}
		})
	}
	working.Wait()
	return x.identities, ctx.Err()
}

// contractsOf returns the contracts that the gateway relies on, by their names in the file.
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

func identifyChain(ctx context.Context, c chain.Chain, e *upstream.Endpoint, f *Identity) error {
	client := jsonrpc.New(upstream.NewPool(e.Name(), e))
	if c.Family == chain.SVM {
		return identifySolana(ctx, c, client, f)
	}
	names, addresses := contractsOf(c)
	var id, height string
	var genesis struct{ Hash string }
	calls := []*jsonrpc.Call{
		{Method: "eth_chainId", Out: &id},
		{Method: "eth_blockNumber", Out: &height},
		{Method: "eth_getBlockByNumber", Params: []any{"0x0", false}, Out: &genesis},
	}
	contracts := len(calls)
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
		return fmt.Errorf("%s: eth_chainId returned no number", e.Name())
	}
	block, err := strconv.ParseUint(strings.TrimPrefix(height, "0x"), 16, 64)
	if err != nil {
		return fmt.Errorf("%s: eth_blockNumber returned no number", e.Name())
	}
	f.Said, f.Head = fmt.Sprintf("chain %d, block %d", native, block), block
	if native != c.Native {
		f.Wrong = append(f.Wrong, fmt.Sprintf("serves chain %d, not %d", native, c.Native))
		f.Head = 0
		return nil // its head and contracts are those of another chain
	}
	f.Genesis = genesis.Hash
	for i, name := range names {
		if err := calls[contracts+i].Err; err != nil {
			f.Wrong = append(f.Wrong, name+": "+err.Error())
		} else if strings.Trim(code[i], "0x") == "" {
			f.Wrong = append(f.Wrong, fmt.Sprintf("%s: no code at %s", name, addresses[i].Format(c.Family)))
		}
	}
	return nil
}

func identifySolana(ctx context.Context, c chain.Chain, client *jsonrpc.Client, f *Identity) error {
	names, addresses := contractsOf(c)
	texts := make([]string, len(addresses))
	for i, address := range addresses {
		texts[i] = address.Format(c.Family)
	}
	var genesis string
	var slot, first uint64
	var accounts struct {
		Value []*struct {
			Executable bool `json:"executable"`
		} `json:"value"`
	}
	noData := map[string]any{"encoding": "base64", "dataSlice": map[string]int{"offset": 0, "length": 0}}
	calls := []*jsonrpc.Call{
		{Method: "getGenesisHash", Out: &genesis},
		{Method: "getSlot", Out: &slot},
		{Method: "getMultipleAccounts", Params: []any{texts, noData}, Out: &accounts},
		{Method: "getFirstAvailableBlock", Out: &first},
	}
	if err := client.Batch(ctx, calls...); err != nil {
		return err
	}
	if err := errors.Join(calls[0].Err, calls[1].Err); err != nil {
		return err
	}
	f.Said, f.Head = fmt.Sprintf("genesis %.8s…, slot %d", genesis, slot), slot
	if want := c.Genesis.Format(c.Family); genesis != want {
		f.Wrong = append(f.Wrong, fmt.Sprintf("serves the cluster with genesis %s, not %s", genesis, want))
		f.Head = 0
		return nil
	}
	f.First = first
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

// identifyService accepts any response: what a service serves at its base URL is undefined.
func identifyService(ctx context.Context, e *upstream.Endpoint, f *Identity) error {
	response, err := e.Do(ctx, upstream.Request{})
	var failed *upstream.Error
	if errors.As(err, &failed) && failed.Status != 0 && failed.Class != upstream.ServerError {
		response.Status, err = failed.Status, nil // a page, a redirect, too many requests: it is up
	}
	if err != nil {
		return err
	}
	f.Said = fmt.Sprintf("answers (HTTP %d)", response.Status)
	if response.Status == http.StatusUnauthorized || response.Status == http.StatusForbidden {
		f.Said += ": it may require a key"
	}
	return nil
}
