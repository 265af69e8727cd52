package pages

import (
	"encoding/hex"
	"slices"
	"strconv"

	"crossgate/chain"
	"crossgate/proxy/web"
)

// Transaction is a transaction with which an order went a step further, as its chain has it. Amounts are of smallest
// units of the chain's coin.
type Transaction struct {
	TransactionKey
	Tellers []string // names of the endpoints by whose word the record has it; none where that is not remembered
	Unread  bool     // it could not be had at the moment, and nothing below is known

	Block   uint64
	Sender  string
	Nonce   *uint64 // nil: the chain's transactions have none
	Value   string  // that the call carries
	GasUsed *uint64 // nil: not known
	Fee     string  // that the sender paid; empty: not known
	Calls   []Call
	By      []string // names of the endpoints that told it
}

// TransactionKey names a transaction and what it did for an order.
type TransactionKey struct {
	Step      string
	Chain     chain.ID
	Hash      string
	BlockHash string
}

// Call is a call of a contract, or an instruction for a program on Solana.
type Call struct {
	Contract  string // empty: the transaction creates one
	Role      string // of the contract in the protocol; empty: none
	Function  string // empty: not known
	Selector  []byte
	Size      int // bytes of its data
	Arguments []Argument
	Unread    []string // types of the arguments behind those
	Unused    int      // bytes behind all arguments
	Irregular bool     // not encoded as compilers do it
}

// Argument is an argument of a call, or a member of one.
type Argument struct {
	Name, Type string // empty: not known
	Meaning    Meaning
	Text       string   // an address, or a number
	Chain      chain.ID // of an address; 0: not known
	Token      string   // symbol of the token that Text is, or that it is an amount of
	Decimals   int
	Bytes      []byte
	Members    []Argument
	Call       *Call // that Bytes are
}

// Meaning is what an argument's text is.
type Meaning uint8

// What the text of an argument can be.
const (
	Plain     Meaning = iota // what it says
	IsBytes                  // there is none: it is bytes
	IsAddress                // of an account or a contract; empty: of nobody
	IsToken                  // the address of a token
	IsAmount                 // of a token; without Token of one that is not known
	IsShare                  // in basis points
	IsChain                  // the id of a chain
)

// Transactions are those in which the steps of an order's record happened, each once.
func Transactions(record []byte) []TransactionKey {
	r, err := decode[recordJSON](record)
	if err != nil {
		return nil
	}
	var keys []TransactionKey
	for _, each := range r.steps() {
		if each.event.TransactionHash.Text == "" {
			continue
		}
		key := TransactionKey{each.name, each.on, each.event.TransactionHash.Text, each.event.BlockHash.Text}
		if !slices.ContainsFunc(keys, func(k TransactionKey) bool { return k.Chain == key.Chain && k.Hash == key.Hash }) {
			keys = append(keys, key)
		}
	}
	return keys
}

// transactionView is a transaction as its part of the page shows it.
type transactionView struct {
	TransactionKey
	Unread bool
	Tx     linked
	Facts  []fact
	Calls  []callView
}

type callView struct {
	Title     string // the contract's and the function's name, or what is known instead
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

func (p *Views) transactions(all []Transaction) []transactionView {
	views := make([]transactionView, len(all))
	for i, t := range all {
		views[i] = transactionView{TransactionKey: t.TransactionKey, Unread: t.Unread, Tx: linked{t.Hash, p.TxURL(t.Chain, t.Hash)}}
		if t.Unread {
			continue
		}
		views[i].Facts = p.transactionFacts(t)
		for _, c := range t.Calls {
			views[i].Calls = append(views[i].Calls, p.call(t.Chain, c))
		}
	}
	return views
}

func (p *Views) transactionFacts(t Transaction) []fact {
	known, _ := p.Chains.Chain(t.Chain)
	coins := func(units string) string {
		return web.AmountOf(units, int(known.Coin.Decimals)).Exact + " " + known.Coin.Symbol
	}
	sender, gas, fee := "Sender", "Gas used", "not told whole by the chain"
	switch known.Family {
	case chain.SVM:
		sender, gas = "Fee payer", "Compute units"
	case chain.TVM:
		gas = "Energy used"
	}
	if t.Fee != "" {
		fee = coins(t.Fee)
	}
	facts := []fact{p.account(sender, t.Chain, named{t.Sender})}
	if t.Nonce != nil {
		facts = append(facts, fact{Name: "Nonce", Text: strconv.FormatUint(*t.Nonce, 10)})
	}
	if t.Value != "" && t.Value != "0" {
		facts = append(facts, fact{Name: "Coin sent along", Text: coins(t.Value)})
	}
	if t.GasUsed != nil {
		facts = append(facts, fact{Name: gas, Text: web.Count(*t.GasUsed)})
	}
	return append(facts, fact{Name: "Fee paid", Text: fee}, fact{Name: "Told by", Text: endpointsText(t.By)})
}

// call makes what can be said of a call on a chain.
func (p *Views) call(on chain.ID, c Call) callView {
	v := callView{Contract: linked{c.Contract, p.AddressURL(on, c.Contract)}}
	name := c.Role
	switch {
	case c.Contract == "":
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
	case c.Contract == "":
		v.Title = name
	default:
		v.Title = name + ": function 0x" + hex.EncodeToString(c.Selector) + ", which is not known"
	}
	v.Note = c.note(known.Family)
	for i, a := range c.Arguments {
		v.Arguments = append(v.Arguments, p.argument(on, i, a))
	}
	return v
}

// note says what of a call's data is not shown.
func (c Call) note(family chain.Family) string {
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

func (p *Views) argument(on chain.ID, place int, a Argument) argumentView {
	v := argumentView{Name: a.Name, Type: a.Type}
	if v.Name == "" {
		v.Name = strconv.Itoa(place + 1)
	}
	switch a.Meaning {
	case Plain:
		v.Text = a.Text
	case IsAddress, IsToken:
		if v.Text = "nobody"; a.Text != "" {
			v.Text, v.Named = a.Token, &linked{a.Text, p.AddressURL(a.Chain, a.Text)}
		}
	case IsAmount:
		if v.Text = a.Text + " smallest units of a token that is not known"; a.Token != "" {
			v.Text = web.AmountOf(a.Text, a.Decimals).Exact + " " + a.Token
		}
	case IsShare:
		v.Text = web.AmountOf(a.Text, 2).Exact + " %"
	case IsChain:
		v.Text = a.Text
		if id, err := chain.ParseID(a.Text); err == nil {
			v.Text = p.ChainName(id)
		}
	case IsBytes:
		p.showBytes(on, &v, a)
	}
	for i, member := range a.Members {
		v.Members = append(v.Members, p.argument(on, i, member))
	}
	return v
}

// showBytes shows an id whole, and of other bytes how many they are, for who wants them to copy.
func (p *Views) showBytes(on chain.ID, v *argumentView, a Argument) {
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
		call := p.call(on, *a.Call)
		v.Call = &call
	}
}

// endpointsText says by how many endpoints something was told, and by which.
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
