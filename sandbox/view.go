package sandbox

import (
	"context"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/sandbox/solana"
)

// view is the world as GET /sandbox/world shows it. Chain ids are the protocol's.
type view struct {
	Chains   []chainView          `json:"chains"`
	Orders   []orderView          `json:"orders"`
	Others   []otherView          `json:"otherTransactions"` // they created no order
	Takers   []accountView        `json:"takers"`
	Tokens   []tokenView          `json:"tokens"`
	Pools    []poolView           `json:"pools"`
	Accounts []keyView            `json:"accounts"`
	Actors   []keyView            `json:"actors"` // those who play the history
	Venues   []Venue              `json:"venues"`
	Prices   Venue                `json:"prices"`
	Faults   map[string]faultView `json:"faults"` // in force, by target
}

// Addresses and transaction hashes of a chain are in the text form of its family.
type chainView struct {
	ID                  chain.ID `json:"id"`
	Family              string   `json:"family"`
	EVMChainID          uint64   `json:"evmChainId"`
	Name                string   `json:"name"`
	RPC                 string   `json:"rpc"`
	EVMRPC              string   `json:"evmRpc"` // of the go-ethereum node beneath
	Head                uint64   `json:"head"`
	DlnSource           string   `json:"dlnSource"`
	DlnDestination      string   `json:"dlnDestination"`
	Gate                string   `json:"gate"`
	ExternalCallAdapter string   `json:"externalCallAdapter"`
	Multicall3          string   `json:"multicall3"`
	PoolRouter          string   `json:"poolRouter"`
	Coin                coinView `json:"coin"`
}

type coinView struct {
	Symbol   string `json:"symbol"`
	Decimals uint8  `json:"decimals"`
	Wrapped  string `json:"wrapped"`
}

type orderView struct {
	ChainID        chain.ID    `json:"chainId"`
	TakeChainID    chain.ID    `json:"takeChainId"`
	CreationTxHash string      `json:"creationTxHash"`
	OrderID        common.Hash `json:"orderId"`
	State          string      `json:"state"`
	Title          string      `json:"title,omitempty"`
}

type otherView struct {
	ChainID         chain.ID `json:"chainId"`
	TransactionHash string   `json:"transactionHash"`
	Title           string   `json:"title"`
}

type accountView struct {
	Name    string         `json:"name"`
	Address common.Address `json:"address"`
}

type keyView struct {
	accountView
	PrivateKey string `json:"privateKey"`
	// The same account on Solana.
	Wallet       solana.Key `json:"wallet"`
	WalletSecret string     `json:"walletSecret"`
}

type tokenView struct {
	ChainID  chain.ID `json:"chainId"`
	Address  string   `json:"address"`
	Symbol   string   `json:"symbol"`
	Name     string   `json:"name"`
	Decimals *int     `json:"decimals"` // null where the contract does not tell
}

type poolView struct {
	ChainID chain.ID `json:"chainId"`
	Address string   `json:"address"`
	Token0  string   `json:"token0"`
	Token1  string   `json:"token1"`
	FeeBps  uint64   `json:"feeBps"`
}

type faultView struct {
	Kind              string `json:"kind"`
	DelayMs           int64  `json:"delayMs,omitempty"`
	As                string `json:"as,omitempty"`
	RetryAfterSeconds int64  `json:"retryAfter,omitempty"`
	Requests          int    `json:"requests,omitempty"`
}

// look describes the world as it is now: states are read from the contracts.
func (w *World) look(ctx context.Context) (view, error) {
	v := view{Venues: w.venues, Prices: w.prices, Faults: map[string]faultView{}}
	var err error
	if v.Orders, err = w.lookAtOrders(ctx); err != nil {
		return view{}, err
	}
	for _, c := range w.chains {
		v.Chains = append(v.Chains, c.look())
		for _, t := range c.Tokens {
			v.Tokens = append(v.Tokens, t.look(c.Facts.Family))
		}
		for _, p := range c.Pools {
			v.Pools = append(v.Pools, p.look(c.Facts))
		}
	}
	v.Chains = append(v.Chains, w.solana.look())
	for _, t := range w.solana.Tokens {
		v.Tokens = append(v.Tokens, t.look(chain.SVM))
	}
	for _, p := range w.solana.Pools {
		v.Pools = append(v.Pools, poolView{chain.Solana, p.Address.String(), p.A.Mint.String(), p.B.Mint.String(), p.FeeBps})
	}
	for _, o := range w.others {
		v.Others = append(v.Others, otherView{o.Chain, w.hashText(o.Chain, o.Hash), o.Title})
	}
	for _, a := range w.cast.takers {
		v.Takers = append(v.Takers, accountView{a.Name, a.Address})
	}
	for _, a := range w.cast.users {
		v.Accounts = append(v.Accounts, a.look())
	}
	for _, a := range w.cast.all()[:len(w.cast.all())-len(w.cast.users)] {
		v.Actors = append(v.Actors, a.look())
	}
	for target, f := range w.faults.inForce() {
		v.Faults[target] = f.look()
	}
	return v, nil
}

func (w *World) lookAtOrders(ctx context.Context) ([]orderView, error) {
	orders, err := w.Orders(ctx)
	if err != nil {
		return nil, err
	}
	views := make([]orderView, len(orders))
	for i, o := range orders {
		if views[i], err = w.lookAt(ctx, o); err != nil {
			return nil, err
		}
	}
	return views, nil
}

func (c *Chain) look() chainView {
	text := func(a common.Address) string { return addressText(c.Facts.Family, a) }
	var poolRouter string
	if c.spec.poolRouter != "" {
		poolRouter = text(common.HexToAddress(c.spec.poolRouter))
	}
	return chainView{
		ID: c.Facts.ID, Family: c.Facts.Family.String(), EVMChainID: c.Facts.Native, Name: c.Facts.Name, RPC: c.RPC, EVMRPC: c.EVMRPC,
		Head:      c.node.head(),
		DlnSource: text(c.dlnSource()), DlnDestination: text(c.dlnDestination()), Gate: text(c.gate()),
		ExternalCallAdapter: text(externalCallAdapter), Multicall3: text(c.multicall()),
		PoolRouter: poolRouter,
		Coin:       coinView{c.Facts.Coin.Symbol, c.Facts.Coin.Decimals, text(c.Tokens[0].Address)},
	}
}

func (t Token) look(family chain.Family) tokenView {
	v := tokenView{ChainID: t.Chain, Address: t.text(family), Symbol: t.Symbol, Name: t.Name}
	if t.hasDecimals() {
		v.Decimals = &t.Decimals
	}
	return v
}

func (p Pool) look(on chain.Chain) poolView {
	return poolView{on.ID, addressText(on.Family, p.Address), p.Token0.text(on.Family), p.Token1.text(on.Family), p.FeeBps}
}

// text is the token's address as its chain writes it.
func (t Token) text(family chain.Family) string { return chain.NewAddress(t.raw()).Format(family) }

func addressText(family chain.Family, a common.Address) string {
	return chain.NewAddress(a.Bytes()).Format(family)
}

// hashText writes the hash of a transaction on the chain with id.
func (w *World) hashText(id chain.ID, tx chain.TxHash) string {
	family := chain.UnknownFamily // which writes a signature as Solana does
	if c, here := w.Chain(id); here {
		family = c.Facts.Family
	}
	return tx.Format(family)
}

func (a Account) look() keyView {
	return keyView{accountView{a.Name, a.Address}, a.PrivateKey(), a.Wallet.Key, a.Wallet.Secret()}
}

func (f Fault) look() faultView {
	v := faultView{Kind: f.Kind, Requests: f.Requests}
	switch f.Kind {
	case Slow:
		v.DelayMs = f.Delay.Milliseconds()
	case Wrong:
		v.As = f.As
	case Limited:
		v.RetryAfterSeconds = int64(f.RetryAfter.Seconds())
	}
	return v
}
