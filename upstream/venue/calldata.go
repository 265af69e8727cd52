package venue

// Reading of calldata, to see what a venue's router enforces. Package quote refuses direct calls of unlisted
// functions.

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/quote"
)

// function is a function of a venue's router, and where in its arguments stands what the router holds it to. What it
// passes on to others unread does not count.
type function struct {
	signature         string // types alone
	tokenIn, tokenOut position
	amountIn, minOut  position
	payee             position
	// zeroPays says that the router pays its caller where the payee is the zero address.
	zeroPays bool
	// refine judges the rest of the arguments: flags and fees that take from what the recipient or the sender has.
	refine func(arguments []any, c *quote.Call) error
	// Behind the arguments may stand a tag of so many bytes, which the router is known not to read, or what behind
	// judges.
	tag    int
	behind func(data, rest []byte, c *quote.Call) error
}

// position leads to an argument: its index, and those of members in structs and lists. -1 is a list's last member.
type position []int

// Members of functions that are not arguments.
var (
	coinItself = position{-2}
	callValue  = position{-3}
)

// parsedFunction is a function with its decoder.
type parsedFunction struct {
	function
	inputs abi.Arguments
}

// callReader reads the calls of one venue's routers by selector.
type callReader map[[4]byte]parsedFunction

// readsCalls is the reader of functions that stand in our own source.
func readsCalls(functions ...function) callReader {
	known := callReader{}
	for _, f := range functions {
		method := parseSignature(f.signature)
		known[[4]byte(method.ID)] = parsedFunction{f, method.Inputs}
	}
	return known
}

// parseSignature makes a decoder of a signature. The library's own parser knows no lists of lists of structs.
func parseSignature(signature string) abi.Method {
	name, types, _ := strings.Cut(signature, "(")
	var inputs abi.Arguments
	for _, each := range parseTypes(strings.TrimSuffix(types, ")")) {
		kind, err := abi.NewType(each.Type, "", each.Components)
		if err != nil {
			panic("venue: " + signature + ": " + err.Error())
		}
		inputs = append(inputs, abi.Argument{Name: each.Name, Type: kind})
	}
	return abi.NewMethod(name, name, abi.Function, "payable", false, true, inputs, nil)
}

// parseTypes reads types with commas between them, structs in parentheses. They are named as the library wants it.
func parseTypes(list string) []abi.ArgumentMarshaling {
	var types []abi.ArgumentMarshaling
	depth, start := 0, 0
	for i, r := range list + "," {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0 && i > start:
			one := abi.ArgumentMarshaling{Name: "member" + strconv.Itoa(len(types)), Type: list[start:i]}
			if end := strings.LastIndex(one.Type, ")"); end >= 0 {
				one.Components, one.Type = parseTypes(one.Type[1:end]), "tuple"+one.Type[end+1:]
			}
			types = append(types, one)
			start = i + 1
		}
	}
	return types
}

// errUnknownFunction means that the venue's list has no such function.
var errUnknownFunction = errors.New("it calls a function that is not known to keep to a recipient and a minimum")

// read is quote.Profile's Read.
func (known callReader) read(_ chain.Chain, tx quote.Tx) (quote.Call, error) {
	f, arguments, err := known.unpack(tx.Data)
	if err != nil {
		return quote.Call{}, err
	}
	c, err := f.call(arguments, tx)
	if err == nil && f.behind != nil {
		err = f.behind(tx.Data, f.rest(tx.Data[4:]), &c)
	}
	return c, err
}

// unpack decodes calldata, behind whose arguments stands nothing that a router could read and we do not.
func (known callReader) unpack(data []byte) (parsedFunction, []any, error) {
	if len(data) < 4 {
		return parsedFunction{}, nil, fmt.Errorf("its calldata has %d bytes", len(data))
	}
	f, listed := known[[4]byte(data)]
	if !listed {
		return parsedFunction{}, nil, fmt.Errorf("%w: 0x%x", errUnknownFunction, data[:4])
	}
	arguments, err := f.inputs.Unpack(data[4:])
	if err != nil {
		return parsedFunction{}, nil, fmt.Errorf("its calldata is not of %s: %w", f.signature, err)
	}
	if rest := f.rest(data[4:]); f.behind == nil && len(rest) > f.tag {
		return parsedFunction{}, nil, fmt.Errorf("%d bytes behind its arguments are not known", len(rest))
	}
	return f, arguments, nil
}

// rest is what stands behind encoded arguments, without the zeros that fill up a word.
func (f parsedFunction) rest(data []byte) []byte {
	end := sort.Search(len(data), func(end int) bool {
		_, err := f.inputs.Unpack(data[:end])
		return err == nil
	})
	padded := min((end+31)/32*32, len(data))
	if slices.ContainsFunc(data[end:padded], func(b byte) bool { return b != 0 }) {
		return data[end:]
	}
	return data[padded:]
}

// call finds in the arguments what the router enforces.
func (f function) call(arguments []any, tx quote.Tx) (c quote.Call, err error) {
	r := argumentReader{arguments: arguments, value: tx.Value}
	c = quote.Call{
		TokenIn: r.token(f.tokenIn), TokenOut: r.token(f.tokenOut),
		AmountIn: r.amount(f.amountIn), MinOut: r.amount(f.minOut),
	}
	if f.payee != nil {
		payee := r.address(f.payee)
		switch {
		case payee != common.Address{}:
			c.Payee = chain.NewAddress(payee.Bytes())
		case !f.zeroPays:
			return quote.Call{}, errors.New("it pays no recipient")
		}
	}
	if r.err == nil && f.refine != nil {
		r.err = f.refine(arguments, &c)
	}
	return c, r.err
}

// argumentReader reads members of decoded arguments. After a failure it reads nothing more.
type argumentReader struct {
	arguments []any
	value     chain.Amount // that the call carries
	err       error
}

// token is a token's address, the zero address for the coin, which routers spell in two ways.
func (r *argumentReader) token(p position) chain.Address {
	if p[0] == coinItself[0] {
		return chain.NativeCoin(chain.EVM)
	}
	switch at := r.address(p); at {
	case common.HexToAddress(coinText), common.Address{}:
		return chain.NativeCoin(chain.EVM)
	default:
		return chain.NewAddress(at.Bytes())
	}
}

// address is an address, or a number whose lower 20 bytes are one.
func (r *argumentReader) address(p position) common.Address {
	switch at := r.at(p).(type) {
	case common.Address:
		return at
	case *big.Int:
		return common.BigToAddress(at)
	}
	r.fail(p)
	return common.Address{}
}

func (r *argumentReader) amount(p position) chain.Amount {
	if p[0] == callValue[0] {
		return r.value
	}
	number, isNumber := r.at(p).(*big.Int)
	if !isNumber {
		r.fail(p)
		return chain.Amount{}
	}
	amount, err := chain.AmountFromBig(number)
	if err != nil {
		r.err = err
	}
	return amount
}

func (r *argumentReader) fail(p position) {
	if r.err == nil {
		r.err = fmt.Errorf("its calldata has nothing at %v", p)
	}
}

// at is the argument at a position, nil where there is none.
func (r *argumentReader) at(p position) any {
	value := reflect.ValueOf(r.arguments)
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

// hasFlag reports whether the number at a position has a bit.
func hasFlag(arguments []any, p position, flag int64) bool {
	number, isNumber := (&argumentReader{arguments: arguments}).at(p).(*big.Int)
	return !isNumber || new(big.Int).And(number, big.NewInt(flag)).Sign() != 0
}

// errPartialFill is a flag with which a router keeps to the minimum by the part of the input that it swaps.
var errPartialFill = errors.New("it may swap a part of the input alone")
