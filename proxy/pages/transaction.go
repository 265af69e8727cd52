package pages

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strconv"
	"sync"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy"
	"crossgate/proxy/web"
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
	Tokens tokenNames
}

// Transaction is one in which an order went a step further.
type Transaction struct {
	Step    string
	Tellers []string         // names of the endpoints by whose word the record has it; none where that is not remembered
	Read    *readTransaction // nil: it could not be had at the moment
	At      order.At
}

// transactionRoute keeps transactions for pages.
func (s *Pages) transactionRoute() proxy.Route[chainTx] {
	return proxy.Route[chainTx]{
		Paths: []string{"transaction"},
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
		if !slices.ContainsFunc(all, func(t Transaction) bool { return t.At.Chain == step.at.Chain && t.At.Tx == step.at.Tx }) {
			all = append(all, Transaction{Step: step.name, At: *step.at})
		}
	}
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			t := &all[i]
			q := chainTx{t.At.Chain, t.At.Tx, shown.IsFinalOn(t.At.Chain)}
			if read, had := valueOf[readTransaction](ctx, s, s.transactionRoute(), q); had {
				t.Read = &read
			}
			t.Tellers = s.options.Details.Tellers(t.At.Chain, t.At.Tx, t.At.BlockHash)
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

type callView struct {
	Title     string // the contract's and the function's name, or a description
	Note      string // about what could not be read; empty: everything was
	Contract  linked
	Arguments []argumentView
}

type argumentView struct {
	Name, Type string
	Text       string
	Named      *linked // an address or an id, shortened
	Hex        string  // to be copied: bytes that are not shown
	Members    []argumentView
	Call       *callView
}

func (p *Views) transactionFacts(t order.Transaction) []Fact {
	known, _ := p.Chains.Chain(t.Chain)
	coins := func(a chain.Amount) string {
		return web.AmountOf(a.String(), int(known.Coin.Decimals)).Exact + " " + known.Coin.Symbol
	}
	sender, gas, fee := "Sender", "Gas used", "not told whole by the chain"
	switch known.Family {
	case chain.SVM:
		sender, gas = "Fee payer", "Compute units"
	case chain.TVM:
		gas = "Energy used"
	}
	if t.Fee != nil {
		fee = coins(*t.Fee)
	}
	facts := []Fact{p.account(sender, t.Chain, t.Sender)}
	if t.Nonce != nil {
		facts = append(facts, Fact{Name: "Nonce", Text: strconv.FormatUint(*t.Nonce, 10)})
	}
	if !t.Value.IsZero() {
		facts = append(facts, Fact{Name: "Coin sent along", Text: coins(t.Value)})
	}
	if t.GasUsed != nil {
		facts = append(facts, Fact{Name: gas, Text: web.Count(*t.GasUsed)})
	}
	return append(facts, Fact{Name: "Fee paid", Text: fee}, Fact{Name: "Told by", Text: endpointsText(t.By)})
}

// call makes what can be said of a call on a chain.
func (p *Views) call(on chain.ID, c order.ContractCall, tokens tokenNames) callView {
	contract := p.account("", on, c.Contract)
	v := callView{Contract: linked{contract.Text, contract.URL}}
	name := c.Role
	switch {
	case c.Contract.IsAbsent():
		name = "A new contract"
	case name == "":
		name = "A contract that is not the protocol's"
	}
	known, _ := p.Chains.Chain(on)
	switch isSolana := known.Family == chain.SVM; {
	case c.Function != "":
		v.Title = name + ": " + c.Function
	case c.Size == 0:
		v.Title = name + ": no data"
	case isSolana:
		v.Title = name + ": an instruction that is not known, 0x" + hex.EncodeToString(c.Selector)
	case c.Contract.IsAbsent():
		v.Title = name
	default:
		v.Title = name + ": function 0x" + hex.EncodeToString(c.Selector) + ", which is not known"
	}
	v.Note = noteOf(c, known.Family)
	for i, a := range c.Arguments {
		v.Arguments = append(v.Arguments, p.argument(on, i, a, tokens))
	}
	return v
}

// noteOf says what of a call's data is not shown.
func noteOf(c order.ContractCall, family chain.Family) string {
	switch {
	case family == chain.SVM && c.Size > 0:
		return "These are its accounts. What else it says, " + web.Plural(c.Size, "byte") + ", is not decoded."
	case c.Function == "" && c.Size > 0:
		return "Its " + web.Plural(c.Size, "byte") + " of data are not decoded."
	case c.Unread != nil:
		return web.Plural(len(c.Unread), "argument") + " more could not be read."
	case c.Irregular:
		return "The arguments are not encoded as compilers do it, though contracts may well read them."
	case c.Unused > 0:
		return web.Plural(c.Unused, "byte") + " more stand behind the arguments."
	}
	return ""
}

func (p *Views) argument(on chain.ID, place int, a order.Argument, tokens tokenNames) argumentView {
	v := argumentView{Name: cmp.Or(a.Name, strconv.Itoa(place+1)), Type: a.Type}
	known := tokens[token.Key{Chain: a.Chain, Address: a.Address}]
	switch a.Kind {
	case order.MembersArgument:
	case order.NumberArgument:
		v.Text = a.Number.String()
	case order.TruthArgument:
		v.Text = strconv.FormatBool(!a.Number.IsZero())
	case order.AccountArgument, order.TokenArgument:
		if v.Text = "nobody"; !a.Address.IsAbsent() {
			of := p.account("", a.Chain, a.Address)
			v.Text, v.Named = "", &linked{of.Text, of.URL}
			if a.Kind == order.TokenArgument {
				v.Text = known.Symbol
			}
		}
	case order.AmountArgument:
		if v.Text = a.Number.String() + " smallest units of a token that is not known"; known.Symbol != "" {
			v.Text = AmountOf(a.Number, known).Exact + " " + known.Symbol
		}
	case order.ShareArgument:
		v.Text = web.AmountOf(a.Number.String(), 2).Exact + " %"
	case order.ChainArgument:
		v.Text = a.Number.String()
		if id, err := chain.ParseID(v.Text); err == nil {
			v.Text = p.ChainName(id)
		}
	case order.BytesArgument, order.HashArgument:
		p.showBytes(on, &v, a, tokens)
	}
	for i, member := range a.Members {
		v.Members = append(v.Members, p.argument(on, i, member, tokens))
	}
	return v
}

// showBytes shows an id whole, and of other bytes how many they are, for who wants them to copy.
func (p *Views) showBytes(on chain.ID, v *argumentView, a order.Argument, tokens tokenNames) {
	const idLength = 32
	whole := "0x" + hex.EncodeToString(a.Bytes)
	switch {
	case len(a.Bytes) == 0:
		v.Text = "none"
	case len(a.Bytes) == idLength:
		v.Named = &linked{Text: whole}
	default:
		v.Text, v.Hex = web.Plural(len(a.Bytes), "byte"), whole
	}
	if a.Call != nil {
		call := p.call(on, *a.Call, tokens)
		v.Call = &call
	}
}

// endpointsText counts and names endpoints.
func endpointsText(names []string) string {
	if len(names) == 0 {
		return "not recorded"
	}
	text := web.Plural(len(names), "endpoint") + ":"
	for i, name := range names {
		if i > 0 {
			text += ","
		}
		text += " " + name
	}
	return text
}
