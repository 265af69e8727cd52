package pages

import (
	"context"
	"encoding/json"
	"strconv"
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

// transactionRoute keeps transactions as pages show them, in their JSON.
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
	shown := Transaction{
		Block: read.Block, Sender: read.Sender.Format(s.chains.Family(q.chain)), Nonce: read.Nonce, Value: read.Value.String(),
		GasUsed: read.GasUsed, By: read.By,
	}
	if read.Fee != nil {
		shown.Fee = read.Fee.String()
	}
	for _, call := range read.Calls {
		shown.Calls = append(shown.Calls, s.callShown(q.chain, call, tokens))
	}
	body, err := json.Marshal(shown)
	return proxy.OneBody(body), life, err
}

// transactions are those in which the steps of a record happened, as far as they can be had soon.
func (s *Pages) transactions(ctx context.Context, shown Order) []Transaction {
	ctx, cancel := context.WithTimeout(ctx, transactionPatience)
	defer cancel()
	keys := Transactions(shown.Record)
	all := make([]Transaction, len(keys))
	var asking sync.WaitGroup
	for i, key := range keys {
		asking.Go(func() {
			all[i] = s.transaction(ctx, key, shown.IsFinalOn(key.Chain))
		})
	}
	asking.Wait()
	return all
}

// parseBlockHash reads the hash of a transaction's block as its chain writes it.
func (s *Pages) parseBlockHash(key TransactionKey) (chain.Hash, error) {
	if s.chains.Family(key.Chain) == chain.SVM {
		return chain.ParseSolanaHash(key.BlockHash)
	}
	return chain.ParseHash(key.BlockHash)
}

// transaction is one that a record names, unread where it cannot be had soon, with the endpoints by whose word the
// record has it.
func (s *Pages) transaction(ctx context.Context, key TransactionKey, isFinal bool) (read Transaction) {
	tx, err := chain.ParseTxHash(key.Hash)
	if err != nil {
		return Transaction{TransactionKey: key, Unread: true}
	}
	body := textOf(ctx, s, s.transactionRoute(), chainTx{key.Chain, tx, isFinal})
	if body == nil || json.Unmarshal(body, &read) != nil {
		read = Transaction{Unread: true}
	}
	read.TransactionKey = key
	if block, err := s.parseBlockHash(key); err == nil {
		read.Tellers = s.options.Details.Tellers(key.Chain, tx, block)
	}
	return read
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

func (s *Pages) callShown(on chain.ID, call order.ContractCall, tokens map[token.Key]token.Token) Call {
	return Call{
		Contract: call.Contract.Format(s.chains.Family(on)), Role: call.Role, Function: call.Function, Selector: call.Selector,
		Size: call.Size, Arguments: s.argumentsShown(on, call.Arguments, tokens), Unread: call.Unread, Unused: call.Unused,
		Irregular: call.Irregular,
	}
}

func (s *Pages) argumentsShown(on chain.ID, arguments []order.Argument, tokens map[token.Key]token.Token) []Argument {
	var shown []Argument
	for _, a := range arguments {
		as := Argument{Name: a.Name, Type: a.Type, Chain: a.Chain, Text: a.Number.String(), Bytes: a.Bytes}
		switch a.Kind {
		case order.BytesArgument, order.HashArgument:
			as.Meaning = IsBytes
		case order.MembersArgument:
			as.Text, as.Bytes = "", nil
		case order.TruthArgument:
			as.Text = strconv.FormatBool(!a.Number.IsZero())
		case order.AccountArgument:
			as.Meaning, as.Text = IsAddress, a.Address.Format(s.chains.Family(a.Chain))
		case order.TokenArgument:
			as.Meaning, as.Text = IsToken, a.Address.Format(s.chains.Family(a.Chain))
		case order.AmountArgument:
			as.Meaning = IsAmount
		case order.ShareArgument:
			as.Meaning = IsShare
		case order.ChainArgument:
			as.Meaning = IsChain
		}
		if key, named := s.tokenOf(a); named {
			as.Token, as.Decimals = tokens[key].Symbol, int(tokens[key].Decimals)
		}
		as.Members = s.argumentsShown(on, a.Members, tokens)
		if a.Call != nil {
			call := s.callShown(on, *a.Call, tokens)
			as.Call = &call
		}
		shown = append(shown, as)
	}
	return shown
}
