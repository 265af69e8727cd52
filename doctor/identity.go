package doctor

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/upstream/jsonrpc"
)

// contractsOf returns the contracts that the gateway relies on, with their keys in the file.
func contractsOf(c chain.Chain) (names []string, addresses []chain.Address) {
	for field, value := range reflect.ValueOf(c.Contracts).Fields() {
		if address := value.Interface().(chain.Address); !address.IsAbsent() {
			names, addresses = append(names, field.Tag.Get("yaml")), append(addresses, address)
		}
	}
	return names, addresses
}

// identify determines the chain and head that the endpoint serves, and checks that the contracts exist.
func (p *prober) identify(ctx context.Context, d *Endpoint) error {
	if p.chain.Family == chain.SVM {
		return p.identifySolana(ctx, d)
	}
	names, addresses := contractsOf(p.chain)
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
	if err := errors.Join(p.client.Batch(ctx, calls...), calls[0].Err, calls[1].Err); err != nil {
		return err
	}
	native, idErr := strconv.ParseUint(id, 0, 64)
	block, heightErr := strconv.ParseUint(height, 0, 64)
	if idErr != nil || heightErr != nil {
		return fmt.Errorf("%s: eth_chainId and eth_blockNumber: %w", d.Endpoint, errNotJSON)
	}
	d.Said = fmt.Sprintf("chain %d, block %d", native, block)
	if native != p.chain.Native {
		d.wrong("serves chain %d, not %d", native, p.chain.Native)
		return nil // its head and contracts belong to another chain
	}
	d.Head, d.Genesis = block, genesis.Hash
	for i, name := range names {
		if err := calls[contracts+i].Err; err != nil {
			d.wrong("%s: %v", name, err)
		} else if strings.Trim(code[i], "0x") == "" {
			d.wrong("%s: no code at %s", name, addresses[i].Format(p.chain.Family))
		}
	}
	return nil
}

func (p *prober) identifySolana(ctx context.Context, d *Endpoint) error {
	names, addresses := contractsOf(p.chain)
	texts := make([]string, len(addresses))
	for i, address := range addresses {
		texts[i] = address.Format(p.chain.Family)
	}
	var genesis string
	var slot uint64
	var accounts struct{ Value []*struct{ Executable bool } }
	noData := map[string]any{"encoding": "base64", "dataSlice": map[string]int{"offset": 0, "length": 0}}
	calls := []*jsonrpc.Call{
		{Method: "getGenesisHash", Out: &genesis},
		{Method: "getSlot", Out: &slot},
		{Method: "getMultipleAccounts", Params: []any{texts, noData}, Out: &accounts},
	}
	if err := errors.Join(p.client.Batch(ctx, calls...), calls[0].Err, calls[1].Err); err != nil {
		return err
	}
	d.Said = fmt.Sprintf("genesis %.8s…, slot %d", genesis, slot)
	if want := p.chain.Genesis.Format(p.chain.Family); genesis != want {
		d.wrong("serves the cluster with genesis %s, not %s", genesis, want)
		return nil
	}
	d.Head = slot
	if calls[2].Err != nil {
		return calls[2].Err
	}
	for i, name := range names {
		if i >= len(accounts.Value) || accounts.Value[i] == nil || !accounts.Value[i].Executable {
			d.wrong("%s: no program at %s", name, texts[i])
		}
	}
	return nil
}
