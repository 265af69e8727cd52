package sandbox

import (
	"context"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
)

// object is a JSON object of an answer. Its chain IDs are the protocol's; its addresses and transaction hashes have the
// text form of their chain's family.
type object = map[string]any

// look describes the current world for GET /sandbox/world, with states read from the contracts.
func (w *World) look(ctx context.Context) (object, error) {
	orders, err := w.Orders(ctx)
	if err != nil {
		return nil, err
	}
	lookedAt, err := w.lookAtAll(ctx, orders)
	if err != nil {
		return nil, err
	}
	var chains, others, takers, tokens, pools, accounts, actors []object
	for _, c := range w.chains {
		chains = append(chains, c.look())
		for _, p := range c.Pools {
			family := c.Facts.Family
			pools = append(pools, object{
				"chainId": c.Facts.ID, "address": addressText(family, p.Address),
				"token0": p.Token0.text(family), "token1": p.Token1.text(family), "feeBps": p.FeeBps,
			})
		}
	}
	chains = append(chains, w.solana.look())
	for _, p := range w.places() {
		for _, t := range p.Tokens {
			tokens = append(tokens, t.look(p.Facts.Family))
		}
	}
	for _, p := range w.solana.Pools {
		pools = append(pools, object{
			"chainId": chain.Solana, "address": p.Address, "token0": p.A.Mint, "token1": p.B.Mint, "feeBps": p.FeeBps,
		})
	}
	for _, o := range w.others { // they created no order
		others = append(others, object{
			"chainId": o.Chain, "transactionHash": w.hashText(o.Chain, o.Hash), "title": o.Title,
		})
	}
	for _, a := range w.cast.takers {
		takers = append(takers, a.look())
	}
	for _, a := range w.cast.users {
		accounts = append(accounts, a.look())
	}
	for _, a := range w.cast.all()[:len(w.cast.all())-len(w.cast.users)] { // those with a part in the history
		actors = append(actors, a.look())
	}
	return object{
		"chains": chains, "orders": lookedAt, "otherTransactions": others, "takers": takers, "tokens": tokens,
		"pools": pools, "accounts": accounts, "actors": actors, "venues": w.venues, "prices": w.prices,
		"faults": w.faults.look(),
	}, nil
}

func (w *World) lookAtAll(ctx context.Context, orders []Order) ([]object, error) {
	var all []object
	for _, o := range orders {
		seen, err := w.lookAt(ctx, o)
		if err != nil {
			return nil, err
		}
		all = append(all, seen)
	}
	return all, nil
}

func (w *World) lookAt(ctx context.Context, o Order) (object, error) {
	state, err := w.State(ctx, o)
	seen := object{
		"chainId": o.GiveChain(), "takeChainId": o.TakeChain(), "orderId": o.ID, "state": state.String(),
		"creationTxHash": w.hashText(o.GiveChain(), o.CreationTx),
	}
	if o.Title != "" {
		seen["title"] = o.Title
	}
	return seen, err
}

// lookAt describes a chain of any family; fields that only EVM nodes have stay empty.
func (p *Place) lookAt(head uint64) object {
	facts := p.Facts
	text := func(a chain.Address) string { return a.Format(facts.Family) }
	return object{
		"id": facts.ID, "family": facts.Family.String(), "name": facts.Name, "rpc": p.RPC, "head": head,
		"dlnSource": text(facts.Contracts.DlnSource), "dlnDestination": text(facts.Contracts.DlnDestination),
		"gate": text(facts.Contracts.Gate),
		"coin": object{
			"symbol": facts.Coin.Symbol, "decimals": facts.Coin.Decimals, "wrapped": p.Tokens[0].text(facts.Family),
		},
		"evmChainId": 0, "evmRpc": "", "externalCallAdapter": "", "multicall3": "", "poolRouter": "",
	}
}

func (c *Chain) look() object {
	text := func(a common.Address) string { return addressText(c.Facts.Family, a) }
	seen := c.lookAt(c.node.head())
	seen["evmChainId"], seen["evmRpc"] = c.Facts.Native, c.EVMRPC // of the underlying go-ethereum node
	seen["externalCallAdapter"], seen["multicall3"] = text(externalCallAdapter), text(c.multicall())
	if c.spec.poolRouter != "" {
		seen["poolRouter"] = text(common.HexToAddress(c.spec.poolRouter))
	}
	return seen
}

func (t Token) look(family chain.Family) object {
	seen := object{
		"chainId": t.Chain, "address": t.text(family), "symbol": t.Symbol, "name": t.Name, "decimals": t.Decimals,
	}
	if !t.hasDecimals() {
		seen["decimals"] = nil
	}
	return seen
}

func (a Account) look() object {
	return object{
		"name": a.Name, "address": a.Address, "privateKey": a.PrivateKey(),
		"wallet": a.Wallet.Key, "walletSecret": a.Wallet.Secret(), // the same account on Solana
	}
}

// text returns the token's address as its chain writes it.
func (t Token) text(family chain.Family) string { return chain.NewAddress(t.raw()).Format(family) }

func addressText(family chain.Family, a common.Address) string {
	return chain.NewAddress(a.Bytes()).Format(family)
}

// hashText formats the hash of a transaction on the chain with id.
func (w *World) hashText(id chain.ID, tx chain.TxHash) string {
	family := chain.UnknownFamily // which formats a signature as Solana does
	if c, here := w.Chain(id); here {
		family = c.Facts.Family
	}
	return tx.Format(family)
}
