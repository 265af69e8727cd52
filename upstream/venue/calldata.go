package venue

// Reading of calldata, to see what a venue's router enforces: direct calls of unlisted functions are refused.

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
)

// function is a contract's function. Its signature names the arguments that say what the contract enforces, several
// names with a stroke between:
//
//	in, out        the tokens; the coin without such an argument
//	amount, least  the input and the minimum; the call's value without such an argument
//	payee          the recipient; the caller without such an argument
//	payeeOrCaller  the recipient; the caller where it is the zero address
//
// Other names are for refine and behind. Of a list, in and amount are in its first member, out and other members of
// structs in its last.
type function struct {
	signature string
	// refine judges the rest of the arguments: flags and fees that take from what the recipient or the sender has.
	refine func(d *decoded, c *quote.Call) error
	// Behind the arguments may stand a tag of so many bytes that the router does not read, or what behind judges.
	tag    int
	behind func(d *decoded, rest []byte, c *quote.Call) error
}

// position leads to an argument: its index, and those of members in structs and lists. -1 is a list's last member.
type position []int

// wholeBps is all of an amount, in basis points.
const wholeBps = 10_000

// ofList stands in a position for the member of a list, which depends on the name.
const ofList = -2

// method is a function with its coder.
type method struct {
	function
	words.Selector
	inputs abi.Arguments
	places map[string]position
}

// callReader reads calls of contracts by selector.
type callReader map[words.Selector]*method

// readsCalls is the reader of functions that stand in our own source.
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

// newMethod parses a signature. The library's own parser does not read lists of lists of structs.
func newMethod(f function) *method {
	m := &method{function: f, places: map[string]position{}}
	name, types, _ := strings.Cut(f.signature, "(")
	for _, each := range m.parse(strings.TrimSuffix(types, ")"), nil) {
		kind, err := abi.NewType(each.Type, "", each.Components)
		if err != nil {
			panic("venue: " + f.signature + ": " + err.Error())
		}
		m.inputs = append(m.inputs, abi.Argument{Name: each.Name, Type: kind})
	}
	m.Selector = words.Selector(abi.NewMethod(name, name, abi.Function, "payable", false, true, m.inputs, nil).ID)
	return m
}

// parse reads types with commas between them, structs in parentheses, at a position, and remembers where names are.
func (m *method) parse(list string, at position) []abi.ArgumentMarshaling {
	var types []abi.ArgumentMarshaling
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
			one := abi.ArgumentMarshaling{Name: fmt.Sprint("member", len(types)), Type: suffix}
			for name := range strings.SplitSeq(names, "/") {
				m.places[name] = here.of(name, strings.HasSuffix(suffix, "[]"))
			}
			if end > 0 {
				inside := here
				if suffix != "" {
					inside = append(inside, ofList)
				}
				one.Type, one.Components = "tuple"+suffix, m.parse(list[start+1:start+end-1], inside)
			}
			types = append(types, one)
			start = i + 1
		}
	}
	return types
}

// of is the position of a name: within lists, and of a token or amount that is a list, of the right member.
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
var errUnknownFunction = errors.New("it calls a function that is not known to keep to a recipient and a minimum")

// read is quote.Profile's Read.
func (known callReader) read(_ chain.Chain, tx quote.Tx) (quote.Call, error) {
	d, err := known.decode(tx)
	if err != nil {
		return quote.Call{}, err
	}
	c, err := d.call()
	if err == nil && d.behind != nil {
		err = d.behind(d, d.rest(tx.Data[4:]), &c)
	}
	return c, err
}

// decode takes calldata apart, behind whose arguments stands nothing that a router could read and we do not.
func (known callReader) decode(tx quote.Tx) (*decoded, error) {
	data := tx.Data
	if len(data) < 4 {
		return nil, fmt.Errorf("its calldata has %d bytes", len(data))
	}
	m, listed := known[words.Selector(data)]
	if !listed {
		return nil, fmt.Errorf("%w: 0x%x", errUnknownFunction, data[:4])
	}
	arguments, err := m.inputs.Unpack(data[4:])
	if err != nil {
		return nil, fmt.Errorf("its calldata is not of %s: %w", m.signature, err)
	}
	if rest := m.rest(data[4:]); m.behind == nil && len(rest) > m.tag {
		return nil, fmt.Errorf("%d bytes behind its arguments are not known", len(rest))
	}
	return &decoded{method: m, tx: tx, arguments: arguments}, nil
}

// rest is what stands behind encoded arguments, without the zeros that fill up a word.
func (m *method) rest(data []byte) []byte {
	// Mostly the last byte that is not padding is needed.
	last := max(len(bytes.TrimRight(data, "\x00"))-1, len(data)-common.HashLength)
	if _, err := m.inputs.Unpack(data[:max(last, 0)]); err != nil && len(data)%common.HashLength == 0 {
		return nil
	}
	end := sort.Search(len(data), func(end int) bool {
		_, err := m.inputs.Unpack(data[:end])
		return err == nil
	})
	padded := min((end+31)/32*32, len(data))
	if slices.ContainsFunc(data[end:padded], func(b byte) bool { return b != 0 }) {
		return data[end:]
	}
	return data[padded:]
}

// decoded is a call taken apart. After a failure it reads nothing more.
type decoded struct {
	*method
	tx        quote.Tx
	arguments []any
	err       error
}

// call finds in the arguments what the router enforces.
func (d *decoded) call() (c quote.Call, err error) {
	c = quote.Call{TokenIn: d.token("in"), TokenOut: d.token("out"), AmountIn: d.amount("amount"), MinOut: d.amount("least")}
	if _, named := d.places["payee"]; named {
		if c.Payee = d.address("payee"); c.Payee.IsNative() {
			return quote.Call{}, errors.New("it pays no recipient")
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

// token is a token's address.
func (d *decoded) token(name string) chain.Address {
	if _, named := d.places[name]; !named {
		return chain.NativeCoin(chain.EVM)
	}
	return asCoin(d.address(name))
}

// asCoin is the zero address for the coin, which routers spell in two ways.
func asCoin(token chain.Address) chain.Address {
	if token == contract(coinText) {
		return chain.NativeCoin(chain.EVM)
	}
	return token
}

// address is an address, or a number whose lower 20 bytes are one.
func (d *decoded) address(name string) chain.Address {
	switch is := d.argument(name).(type) {
	case common.Address:
		return chain.NewAddress(is.Bytes())
	case *big.Int:
		return chain.NewAddress(common.BigToAddress(is).Bytes())
	}
	return chain.NewAddress(common.Address{}.Bytes())
}

// amount is a number, or the call's value where the function has no such argument.
func (d *decoded) amount(name string) chain.Amount {
	if _, named := d.places[name]; !named {
		return d.tx.Value
	}
	amount, err := chain.AmountFromBig(member[*big.Int](d, name))
	if d.err == nil {
		d.err = err
	}
	return amount
}

// hasFlag reports whether an argument is anything but a number without a bit.
func (d *decoded) hasFlag(name string, flag int64) bool {
	number := member[*big.Int](d, name)
	return number == nil || new(big.Int).And(number, big.NewInt(flag)).Sign() != 0
}

// member is the argument of a name, nothing where it is of another kind.
func member[T any](d *decoded, name string) T {
	is, _ := d.argument(name).(T)
	return is
}

// argument is that of a name, which must be there.
func (d *decoded) argument(name string) any {
	var is any
	if at, named := d.places[name]; named {
		is = d.at(at...)
	}
	if is == nil && d.err == nil {
		d.err = fmt.Errorf("its calldata has no %s", name)
	}
	return is
}

// at is the argument at a position, nil where there is none.
func (d *decoded) at(p ...int) any {
	value := reflect.ValueOf(d.arguments)
	for _, i := range p {
		for value.Kind() == reflect.Interface {
			value = value.Elem()
		}
		switch value.Kind() {
		case reflect.Slice:
			if i < 0 {
				i += value.Len()
			}
			if i < 0 || i >= value.Len() {
				return nil
			}
			value = value.Index(i)
		case reflect.Struct:
			value = value.Field(i)
		default:
			return nil
		}
	}
	return value.Interface()
}

// wholeFill is function.refine of routers whose lowest flag lets them swap a part of the input for that of the minimum.
func wholeFill(d *decoded, _ *quote.Call) error {
	if d.hasFlag("flags", 1) {
		return errors.New("it may swap a part of the input alone")
	}
	return nil
}
