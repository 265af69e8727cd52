package contracts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/vm"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/order/creation"
)

// layout is an encoding of a call's arguments that contracts read like any other.
type layout struct {
	name       string
	isReversed bool // last tail first
	isShared   bool // equal tails only once, empty ones in the head's zeros
	isBare     bool // no padding
	gap        int  // bytes before each tail
	filler     byte // of gaps and padding
	behind     int  // bytes after everything
}

var layouts = []layout{
	{name: "usual"},
	{name: "reversed", isReversed: true},
	{name: "shared", isShared: true},
	{name: "bare", isBare: true},
	{name: "shared and bare from the end", isShared: true, isBare: true, isReversed: true},
	{name: "gaps of words", gap: 64},
	{name: "gaps of bytes", gap: 7, filler: 0xee},
	{name: "dirty padding", filler: 0xff},
	{name: "bytes behind", behind: 33, filler: 0x11},
	{name: "all at once", isReversed: true, isShared: true, gap: 3, filler: 0x80, behind: 1},
}

// argument is a word, a byte string, or a tuple of arguments.
type argument struct {
	word    []byte
	content []byte
	tuple   []argument
}

// encode encodes arguments in this layout.
func (l layout) encode(arguments []argument) []byte {
	head, tails := make([]byte, 32*len(arguments)), []byte{}
	places := map[string]int{}
	order := make([]int, 0, len(arguments))
	for i, a := range arguments {
		if a.word != nil {
			copy(head[32*i:], a.word)
		} else {
			order = append(order, i)
		}
	}
	if l.isReversed {
		slices.Reverse(order)
	}
	for _, i := range order {
		tail := l.tail(arguments[i])
		at, isPlaced := places[string(tail)]
		if !isPlaced || !l.isShared {
			tails = append(tails, bytes.Repeat([]byte{l.filler}, l.gap)...)
			at = len(head) + len(tails)
			tails = append(tails, tail...)
		}
		places[string(tail)] = at
		binary.BigEndian.PutUint64(head[32*i+24:], uint64(at))
	}
	return append(head, tails...)
}

func (l layout) tail(a argument) []byte {
	if a.tuple != nil {
		return l.encode(a.tuple)
	}
	tail := binary.BigEndian.AppendUint64(make([]byte, 24), uint64(len(a.content)))
	tail = append(tail, a.content...)
	for !l.isBare && len(tail)%32 != 0 {
		tail = append(tail, l.filler)
	}
	return tail
}

// forms are the argument types of functions: w is a word, b a byte string, ( ) a tuple.
var forms = map[[4]byte]string{
	[4]byte(DlnSource.ABI.Methods["createOrder"].ID):              "(wwbwwbwbbbb)bwb",
	[4]byte(DlnSource.ABI.Methods["createSaltedOrder"].ID):        "(wwbwwbwbbbb)wbwbb",
	[4]byte(DeBridgeRouter.ABI.Methods["strictlySwapAndCall"].ID): "wwbwbwwwwb",
}

// argumentsOf decodes a call; ok is false for an unknown function, and if something lies beyond the end.
func argumentsOf(data []byte) (arguments []argument, ok bool) {
	if len(data) < 4 {
		return nil, false
	}
	form, ok := forms[[4]byte(data)]
	if ok {
		arguments, _, ok = readArguments(form, data[4:])
	}
	return arguments, ok
}

// readArguments decodes calldata of any layout by a form; ok is false if something lies beyond its end.
func readArguments(form string, data []byte) (arguments []argument, rest string, ok bool) {
	for i := 0; form != "" && form[0] != ')'; i++ {
		if len(data) < 32*(i+1) {
			return nil, "", false
		}
		a, kind := argument{word: data[32*i : 32*(i+1)]}, form[0]
		form = form[1:]
		if kind != 'w' {
			at := binary.BigEndian.Uint64(a.word[24:])
			if at > uint64(len(data)) {
				return nil, "", false
			}
			a.word = nil
			if tail := data[at:]; kind == '(' {
				if a.tuple, form, ok = readArguments(form, tail); !ok {
					return nil, "", false
				}
			} else if len(tail) < 32 || binary.BigEndian.Uint64(tail[24:]) > uint64(len(tail)-32) {
				return nil, "", false
			} else {
				a.content = tail[32:][:binary.BigEndian.Uint64(tail[24:])]
			}
		}
		arguments = append(arguments, a)
	}
	return arguments, form[min(1, len(form)):], true
}

// relaid returns a call in this layout, including the call within a router's; nil if it cannot be decoded.
func (l layout) relaid(data []byte) []byte {
	arguments, ok := argumentsOf(data)
	if !ok {
		return nil
	}
	if last := &arguments[len(arguments)-1]; arguments[0].tuple == nil {
		if inner := l.relaid(last.content); inner != nil {
			last.content = inner
		}
	}
	relaid := append(slices.Clone(data[:4]), l.encode(arguments)...)
	return append(relaid, bytes.Repeat([]byte{l.filler}, l.behind)...)
}

// TestForecastsOfAnyLayout replays the recorded creations in other layouts, and some with every word changed. What
// verify would forecast, from the views and probes it makes, must be what the contracts do. With CROSSGATE_MIXTURES
// (make soak) each call takes all layouts, and more of them are damaged.
func TestForecastsOfAnyLayout(t *testing.T) {
	layoutsEach, every := 1, 120 // layouts per case, in turn; one case in this many is damaged in all ways
	if os.Getenv("CROSSGATE_MIXTURES") != "" {
		layoutsEach, every = len(layouts), 30
	}
	for file, least := range map[string]int{"create-vectors-A.json": 99, "router-create-vectors-A.json": 10} { // percent foreseen
		var r orderRecording
		recorded.JSON(t, "golden/create/"+file, &r)
		cases, compared, foreseen := 0, 0, 0
		eachOrder(t, &r, nil, func(t *testing.T, world worldState, c orderCase) {
			if !prepare(t, &r, world, c) {
				return
			}
			at, db, forms := r.chain(c.Chain), world[c.Chain], map[string][]byte{}
			for n := range layoutsEach {
				l := layouts[(cases*layoutsEach+n)%len(layouts)]
				forms[l.name] = l.relaid(c.Tx.Data)
			}
			if cases++; cases%every == 1 {
				maps.Copy(forms, damaged(c.Tx.Data))
			}
			for name, data := range forms {
				if data != nil {
					tx := c.Tx
					tx.Data = data
					if _, isForeseen := at.compareForecast(t, db, c, name, tx); isForeseen {
						foreseen++
					}
					compared++
				}
			}
			at.make(t, db, c)
		})
		if compared < layoutsEach*cases || 100*foreseen < least*compared {
			t.Errorf("%s: %d calls of %d cases, %d of them foreseen by the rules alone, want some layouts of most, and %d %% foreseen",
				file, compared, cases, foreseen, least)
		}
	}
}

// damaged returns calls with one word changed, or cut short.
func damaged(data []byte) map[string][]byte {
	found := map[string][]byte{}
	for at := 4; at+32 <= len(data); at += 32 {
		for name, change := range map[string]func(word []byte){
			"0":           func(word []byte) { clear(word) },
			"1 more":      func(word []byte) { word[31]++ },
			"256 more":    func(word []byte) { word[30]++ },
			"2^48":        func(word []byte) { clear(word); word[25] = 1 },
			"2^64 - 1":    func(word []byte) { clear(word); copy(word[24:], bytes.Repeat([]byte{0xff}, 8)) },
			"2^64 - 2^32": func(word []byte) { clear(word); copy(word[24:], bytes.Repeat([]byte{0xff}, 4)) },
			"2^64 more":   func(word []byte) { word[23]++ },
			"2^255 more":  func(word []byte) { word[0] ^= 0x80 },
			"2^256 - 1":   func(word []byte) { copy(word, bytes.Repeat([]byte{0xff}, 32)) },
		} {
			changed := slices.Clone(data)
			change(changed[at : at+32])
			found[fmt.Sprintf("word %d: %s", at/32, name)] = changed
		}
	}
	for _, cut := range []int{1, 12, 31, 32, 33, 64, 96} {
		if len(data) > cut+4 {
			found[fmt.Sprintf("%d bytes cut", cut)] = data[:len(data)-cut]
		}
	}
	return found
}

// compareForecast sends a transaction on a copy of the state and compares the outcome with its forecast. It also
// reports whether that was complete without the chain's result.
func (o orderChain) compareForecast(t *testing.T, db *state.StateDB, c orderCase, name string, tx orderTx) (came string, isForeseen bool) {
	t.Helper()
	snapshot, logs := db.Snapshot(), len(db.Logs())
	output, err := o.call(t, db, tx, c.Block.Timestamp)
	var made [][]any
	for _, l := range db.Logs()[logs:] {
		if l.Address == o.Contracts["dlnSource"] && l.Topics[0] == DlnSource.Topic("CreatedOrder") {
			made = append(made, must.Get(DlnSource.ABI.Events["CreatedOrder"].Inputs.Unpack(l.Data))(t))
		}
	}
	db.RevertToSnapshot(snapshot)
	isMade := err == nil
	said := &creation.CallResult{IsReverted: !isMade, Data: append([]byte{}, output...)}
	if !isMade && !errors.Is(err, vm.ErrExecutionReverted) {
		said = nil // nodes report too little gas
	}
	lossy := rand.New(rand.NewPCG(uint64(len(tx.Data)), uint64(tx.Data[len(tx.Data)-1])))
	if f, _ := o.forecast(t, db, tx, c.Block.Timestamp, nil, lossy); isMade && f.Refusal != nil {
		t.Errorf("%s: %s: made, forecast with lost answers %+v, not known %q", c.ID, name, f.Refusal, f.Unknown)
	}
	for _, executed := range []*creation.CallResult{nil, said} {
		f, is := o.forecast(t, db, tx, c.Block.Timestamp, executed, nil)
		isWhole := executed != nil || len(f.Unknown) == 0
		isForeseen = isForeseen || is && isWhole && executed == nil
		switch {
		case !is, f.Refusal == nil && !isWhole:
		case isMade && f.Refusal == nil && len(made) == 1 && o.isEvent(f, tx, made[0]):
		case !isMade && f.Refusal != nil && (!isWhole || f.Refusal.Data == nil || bytes.Equal(f.Refusal.Data, output)):
		case executed == nil && o.isTaxed(f): // which only a trial reveals
		default:
			t.Errorf("%s: %s: %s: reverted %v with %s made %v, forecast %+v, id %v, not known %q", c.ID, name, tx.Data, !isMade, describe(output), made, f.Refusal, f.ID, f.Unknown)
		}
	}
	if isMade {
		return "made", isForeseen
	}
	came, _, _ = strings.Cut(describe(output), "[")
	return came, isForeseen
}

// isEvent reports whether a forecast matches the event of the created order.
func (o orderChain) isEvent(f creation.Forecast, tx orderTx, values []any) bool {
	if f.ID == nil {
		return false
	}
	share := f.Creation.AffiliateFee
	return *f.ID == order.ID(values[1].([32]byte)) && bytes.Equal(share, values[2].([]byte)) &&
		f.FixedFee.Big().Cmp(values[3].(*big.Int)) == 0 && f.Split.Percent.Big().Cmp(values[4].(*big.Int)) == 0 &&
		f.Creation.ReferralCode == values[5] && bytes.Equal(f.Creation.Metadata, values[6].([]byte)) &&
		(len(share) == 0 || f.Split.Affiliate == f.Affiliate.Amount) && (f.Swap != nil || f.Value.String() == tx.Value)
}

// isTaxed reports whether a token keeps a share of each transfer.
func (o orderChain) isTaxed(f creation.Forecast) bool {
	isTaxed := func(token chain.Address) bool { return o.tokenAt(common.BytesToAddress(token.Bytes())) == TaxedToken }
	return isTaxed(f.Creation.GiveToken) || f.Swap != nil && isTaxed(f.Swap.TokenIn)
}

// forecast returns verify's forecast of a transaction, given the chain's result of the whole transaction, if known. A
// random third of the other answers is lost if lossy is set.
func (o orderChain) forecast(t *testing.T, db *state.StateDB, tx orderTx, at uint64, executed *creation.CallResult, lossy *rand.Rand) (creation.Forecast, bool) {
	t.Helper()
	of := func(a common.Address) chain.Address { return chain.NewAddress(a.Bytes()) }
	value := must.Get(chain.ParseAmount(tx.Value))(t)
	posed := creation.Transaction{Sender: of(tx.From), To: of(tx.To), Value: value, Data: tx.Data}
	coins := chain.AmountFromBytes(db.GetBalance(tx.From).Bytes())
	s := creation.State{Chain: chain.ID(o.DeBridgeID), Coins: &coins, Contracts: chain.Contracts{
		DlnSource: of(o.Contracts["dlnSource"]), DlnDestination: of(o.Contracts["dlnDestination"]), Router: of(o.Contracts["router"]),
	}}
	ask := func(from, to chain.Address, data []byte) creation.CallResult {
		snapshot := db.Snapshot()
		output, err := o.call(t, db, orderTx{
			From: common.BytesToAddress(from.Bytes()), To: common.BytesToAddress(to.Bytes()), Value: "0", Data: data,
		}, at)
		db.RevertToSnapshot(snapshot)
		return creation.CallResult{IsReverted: err != nil, Data: append([]byte{}, output...)}
	}
	isLost := func() bool { return lossy != nil && lossy.IntN(3) == 0 }
	for _, v := range creation.Views(posed, s) {
		if isLost() {
			continue
		}
		v.Read(&s, ask(posed.Sender, v.To, v.Data).Data)
	}
	probes := creation.Probes(posed, s)
	if f, err := creation.Judge(posed, s); err == nil {
		if status := f.Status(s.Contracts.DlnSource); status != nil {
			probes = append(probes, *status)
		}
	}
	for _, p := range probes {
		if isLost() {
			continue
		}
		p.Heard(&s, ask(p.From, p.To, p.Data))
	}
	s.Executed = executed
	f, err := creation.Judge(posed, s)
	return f, err == nil
}
