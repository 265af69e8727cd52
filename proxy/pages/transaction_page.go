package pages

import (
	"context"
	"slices"
	"sync"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/token"
)

// transactionPatience is how long a page waits for transactions, without which it says less.
const transactionPatience = 2 * time.Second

// chainTx asks for a transaction of a chain, for a page alone: no path answers it.
type chainTx struct {
	chain   chain.ID
	tx      chain.TxHash
	isFinal bool // no reorg can take it back
}

// tokenNames are tokens that arguments of calls name.
type tokenNames map[token.Key]token.Token

// readTransaction is a transaction as its chain has it, with the tokens that it names.
type readTransaction struct {
	order.Transaction
	tokens tokenNames
}

// Transaction is one in which an order went a step further.
type Transaction struct {
	Step    string
	Tellers []string         // names of the endpoints by whose word the record has it; none where that is not remembered
	read    *readTransaction // nil: it could not be had at the moment
	at      order.At
}

// transactionRoute keeps transactions for pages.
func (s *Pages) transactionRoute() proxy.Route[chainTx] {
	return proxy.Route[chainTx]{
		Paths: []string{"transaction"},
		Limit: s.limit,
		Key: func(path string, q chainTx) cache.Key {
			return cache.KeyOf(path, []byte(q.chain.String()), q.tx.Bytes())
		},
		Load: s.loadTransaction,
	}
}

func (s *Pages) loadTransaction(ctx context.Context, q chainTx) ([]proxy.Body, cache.Life, error) {
	read, err := s.options.Details.Transaction(ctx, q.chain, q.tx)
	if err != nil {
		return nil, proxy.NoLife, err
	}
	life := proxy.MovingLife
	tokens, err := s.orders.Tokens(ctx, s.tokensCalled(nil, read.Calls))
	if err == nil && q.isFinal {
		life = proxy.SettledLife
	}
	return []proxy.Body{{Value: readTransaction{read, tokens}}}, life, nil
}

// transactions are those in which the steps of an order happened, each once, as far as they can be had soon.
func (s *Pages) transactions(ctx context.Context, shown Order) (all []Transaction) {
	ctx, cancel := context.WithTimeout(ctx, transactionPatience)
	defer cancel()
	for _, step := range recordedSteps(shown.Record.Order) {
		if !slices.ContainsFunc(all, func(t Transaction) bool { return t.at.Chain == step.at.Chain && t.at.Tx == step.at.Tx }) {
			all = append(all, Transaction{Step: step.name, at: *step.at})
		}
	}
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			t := &all[i]
			q := chainTx{t.at.Chain, t.at.Tx, shown.IsFinalOn(t.at.Chain)}
			if read, had := valueOf[readTransaction](ctx, s, s.transactionRoute(), q); had {
				t.read = &read
			}
			t.Tellers = s.options.Details.Tellers(t.at.Chain, t.at.Tx, t.at.BlockHash)
		})
	}
	asking.Wait()
	return all
}

// tokensCalled appends the tokens that arguments of calls name, as far as their chains are known.
func (s *Pages) tokensCalled(keys []token.Key, calls []order.ContractCall) []token.Key {
	for _, call := range calls {
		keys = s.tokensNamedBy(keys, call.Arguments)
	}
	return keys
}

func (s *Pages) tokensNamedBy(keys []token.Key, arguments []order.Argument) []token.Key {
	for _, a := range arguments {
		if key, named := s.tokenOf(a); named {
			keys = append(keys, key)
		}
		keys = s.tokensNamedBy(keys, a.Members)
		if a.Call != nil {
			keys = s.tokensCalled(keys, []order.ContractCall{*a.Call})
		}
	}
	return keys
}

// tokenOf is the token that an argument is, or is an amount of.
func (s *Pages) tokenOf(a order.Argument) (key token.Key, named bool) {
	if a.Kind != order.TokenArgument && a.Kind != order.AmountArgument || a.Address.IsAbsent() {
		return token.Key{}, false
	}
	_, known := s.chains.Chain(a.Chain)
	return token.Key{Chain: a.Chain, Address: a.Address}, known
}
