package venue

// Decoding of calldata, to find what a venue's router enforces. Direct calls of unlisted functions are refused.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
)

// function is a contract's function. Its signature names the arguments that determine what the contract enforces;
// several names of one argument are separated by slashes:
//
//	in, out        the tokens; the coin without such an argument
//	amount, least  the input and the minimum; the call's value without such an argument
//	payee          the recipient; the caller without such an argument
//	payeeOrCaller  the recipient; the caller if it is the zero address
//
// Other names are for refine and behind. In a list, in and amount are found in the first member, out and other members
// of structs in the last.
type function struct {
	signature string
	// refine judges the other arguments: flags and fees that reduce what the recipient or the sender has.
	refine func(d *decoded, c *quote.Call) error
	// tag is the length of a tag after the arguments that the router does not read; behind judges any other data there.
	tag    int
	behind func(d *decoded, rest []byte, c *quote.Call) error
}

// position is the path to an argument: its index, then those of members in structs and lists. -1 is a list's last one.
type position []int

const wholeBps = 10_000

// ofList marks a list in a position; the member to take depends on the name.
const ofList = -2

// method is a function with the type of its arguments, as that of a struct.
type method struct {
	function
	words.Selector
	arguments kind
	places    map[string]position
}

// callReader decodes calls of contracts by selector.
type callReader map[words.Selector]*method

// readsCalls returns a reader of functions that are listed in our own source.
func readsCalls(functions ...function) callReader {
	methods := make([]*method, len(functions))
	for i, f := range functions {
		methods[i] = newMethod(f)
	}
	return readerOf(methods...)
}

func readerOf(methods ...*method) callReader {
	known := callReader{}
	for _, m := range methods {
		known[m.Selector] = m
	}
	return known
}

func newMethod(f function) *method {
	m := &method{function: f, places: map[string]position{}}
	name, types, _ := strings.Cut(f.signature, "(")
	m.arguments = structOf(m.parse(strings.TrimSuffix(types, ")"), nil))
	m.Selector = words.SelectorOf(name + m.arguments.name)
	return m
}

// parse parses types separated by commas, structs in parentheses, at a position, and records where names are.
func (m *method) parse(list string, at position) (types []kind) {
	depth, start := 0, 0
	for i, r := range list + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0 && i > start:
			here := append(at[:len(at):len(at)], len(types))
			end := strings.LastIndex(list[start:i], ")") + 1
			suffix, names, _ := strings.Cut(list[start+end:i], " ")
			for name := range strings.SplitSeq(names, "/") {
				m.places[name] = here.of(name, strings.HasSuffix(suffix, "[]"))
			}
			one := simple(strings.TrimRight(suffix, "[]"))
			if end > 0 {
				inside := here
				if suffix != "" {
					inside = append(inside, ofList)
				}
				one = structOf(m.parse(list[start+1:start+end-1], inside))
			}
			for range strings.Count(suffix, "[]") {
				one = listOf(one)
			}
			types = append(types, one)
			start = i + 1
		}
	}
	return types
}

// of returns the position of a name, with the right member of every list that it passes or, as a token or amount, is.
func (p position) of(name string, isList bool) position {
	member := -1
	if name == "in" || name == "amount" {
		member = 0
	}
	at := slices.Clone(p)
	if isList && slices.Contains([]string{"in", "out", "amount", "least"}, name) {
		at = append(at, ofList)
	}
	for i := range at {
		if at[i] == ofList {
			at[i] = member
		}
	}
	return at
}

// errUnknownFunction means that the venue's list has no such function.
var errUnknownFunction = errors.New("it calls a function that is not known to enforce recipient and minimum")

// read implements Profile.Read of package quote.
func (known callReader) read(_ chain.Chain, tx quote.Tx) (quote.Call, error) {
	d, err := known.decode(tx)
	if err != nil {
		return quote.Call{}, err
	}
	c, err := d.call()
	if err == nil && d.behind != nil {
		err = d.behind(d, d.rest, &c)
	}
	return c, err
}

// decode decodes calldata. It refuses data behind the arguments that a router could read and we do not.
func (known callReader) decode(tx quote.Tx) (*decoded, error) {
	data := tx.Data
	if len(data) < 4 {
		return nil, fmt.Errorf("its calldata has %d bytes", len(data))
	}
	m, listed := known[words.Selector(data)]
	if !listed {
		return nil, fmt.Errorf("%w: 0x%x", errUnknownFunction, data[:4])
	}
	d := &decoded{method: m, tx: tx, arguments: value{m.arguments, data[4:]}}
	var err error
	if d.rest, err = d.arguments.behind(); err != nil {
		return nil, fmt.Errorf("its calldata does not fit %s: %w", m.signature, err)
	}
	if m.behind == nil && len(d.rest) > m.tag {
		return nil, fmt.Errorf("%d unknown bytes after its arguments", len(d.rest))
	}
	return d, nil
}

// decoded is a decoded call. err is the first failure to read an argument.
type decoded struct {
	*method
	tx        quote.Tx
	arguments value
	rest      []byte // behind the arguments, without the zeros that pad a word
	err       error
}

// call extracts from the arguments what the router enforces.
func (d *decoded) call() (c quote.Call, err error) {
	c = quote.Call{TokenIn: d.token("in"), TokenOut: d.token("out"), AmountIn: d.amount("amount"), MinOut: d.amount("least")}
	if _, named := d.places["payee"]; named {
		if c.Payee = d.address("payee"); c.Payee.IsNative() {
			return quote.Call{}, errors.New("it has no recipient")
		}
	} else if _, named = d.places["payeeOrCaller"]; named {
		if c.Payee = d.address("payeeOrCaller"); c.Payee.IsNative() {
			c.Payee = chain.Address{}
		}
	}
	if d.err == nil && d.refine != nil {
		d.err = d.refine(d, &c)
	}
	return c, d.err
}

// token returns a token's address; the coin if the function has no such argument.
func (d *decoded) token(name string) chain.Address {
	if _, named := d.places[name]; !named {
		return chain.NativeCoin(chain.EVM)
	}
	return asCoin(d.address(name))
}

// asCoin returns the zero address for the coin, which routers spell in two ways, and any other token as is.
func asCoin(token chain.Address) chain.Address {
	if token == coinAddress {
		return chain.NativeCoin(chain.EVM)
	}
	return token
}

var coinAddress = contract(coinText)

// address returns an address argument, or the lower 20 bytes of a number.
func (d *decoded) address(name string) chain.Address { return d.argument(name).address() }

// amount returns a number argument, or the call's value if the function has no such argument.
func (d *decoded) amount(name string) chain.Amount {
	if _, named := d.places[name]; !named {
		return d.tx.Value
	}
	return d.argument(name).amount()
}

// hasFlag reports whether a flag is set in an argument; also if there is none.
func (d *decoded) hasFlag(name string, flag byte) bool {
	return d.argument(name).word()[words.Size-1]&flag != 0 || d.err != nil
}

// argument returns the argument with a name; if it is missing, d fails.
func (d *decoded) argument(name string) value {
	at, named := d.places[name]
	v, is := d.arguments.at(at...)
	if (!named || !is) && d.err == nil {
		d.err = fmt.Errorf("its calldata has no %s", name)
	}
	return v
}

// wholeFill is a function.refine that refuses the lowest flag: a partial swap, for that part of the minimum.
func wholeFill(d *decoded, _ *quote.Call) error {
	if d.hasFlag("flags", 1) {
		return errors.New("it may swap only part of the input")
	}
	return nil
}
