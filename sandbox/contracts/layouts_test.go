package contracts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/vm"

	"crossgate/chain"
	"crossgate/internal/recorded"
	"crossgate/order/creation"
)

// layout is a way to lay out the arguments of a call that contracts read as any other.
type layout struct {
	name       string
	isReversed bool // the last tail first
	isShared   bool // equal tails once, empty ones in the head's zeros
	isBare     bool // no padding
	gap        int  // bytes before each tail
	filler     byte // of gaps and padding
	behind     int  // bytes after all
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

// encode lays out arguments.
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

// form is the arguments of a function: w is a word, b a byte string, ( ) a tuple; and which of them is the permit envelope.
type form struct {
	arguments string
	permit    int
}

var forms = map[[4]byte]form{
	[4]byte(DlnSource.ABI.Methods["createOrder"].ID):              {"(wwbwwbwbbbb)bwb", 3},
	[4]byte(DlnSource.ABI.Methods["createSaltedOrder"].ID):        {"(wwbwwbwbbbb)wbwbb", 4},
	[4]byte(DeBridgeRouter.ABI.Methods["strictlySwapAndCall"].ID): {"wwbwbwwwwb", 2},
}

// argumentsOf reads a call; ok is false for another function, and where something is beyond the end.
func argumentsOf(data []byte) (f form, arguments []argument, ok bool) {
	if len(data) < 4 {
		return f, nil, false
	}
	if f, ok = forms[[4]byte(data)]; ok {
		arguments, _, ok = readArguments(f.arguments, data[4:])
	}
	return f, arguments, ok
}

// readArguments reads what a form says from calldata of any layout; ok is false where something is beyond its end.
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

// relaid is a call in another layout, and so is the call within a router's; nil: it cannot be read.
func (l layout) relaid(data []byte) []byte {
	_, arguments, ok := argumentsOf(data)
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

// TestForecastsOfAnyLayout makes the recorded creations with their calls laid out in other ways, with permits of other
// lengths, and some with every word changed, and wants what verify would say of them, from the views and probes it makes,
// to be what the contracts do.
func TestForecastsOfAnyLayout(t *testing.T) {
	const layoutsEach, every = 4, 60 // so many layouts of a case, in turn; all damages of one in so many
	for _, file := range []string{"create-vectors-A.json", "router-create-vectors-A.json"} {
		var r orderRecording
		recorded.JSON(t, "golden/create/"+file, &r)
		cases, compared := 0, 0
		eachOrder(t, &r, nil, func(t *testing.T, world worldState, c orderCase) {
			if !prepare(t, &r, world, c) {
				return
			}
			at, db, forms := r.chain(c.Chain), world[c.Chain], map[string][]byte{}
			for n := range layoutsEach {
				l := layouts[(cases*layoutsEach+n)%len(layouts)]
				forms[l.name] = l.relaid(c.Tx.Data)
			}
			maps.Copy(forms, permitted(c.Tx.Data))
			if cases++; cases%every == 1 {
				maps.Copy(forms, damaged(c.Tx.Data))
			}
			for name, data := range forms {
				if data != nil {
					at.compareForecast(t, db, c, name, data)
					compared++
				}
			}
			at.make(t, db, c)
		})
		if compared < layoutsEach*cases {
			t.Errorf("%s: %d calls of %d cases, want some layouts of most", file, compared, cases)
		}
	}
}

// permitted are calls with parts of their first permit envelope, and with more than it.
func permitted(data []byte) map[string][]byte {
	found := map[string][]byte{}
	f, arguments, ok := argumentsOf(data)
	if !ok {
		return found
	}
	envelope := &arguments[f.permit].content
	whole := append(slices.Clone(*envelope), 1, 2, 3)
	for _, length := range []int{31, 64, 65, 96, 97, 128, 130} {
		if *envelope = whole[:min(length, len(whole))]; len(whole) > 3 {
			found[fmt.Sprintf("permit of %d bytes", length)] = append(slices.Clone(data[:4]), layout{}.encode(arguments)...)
		}
	}
	return found
}

// damaged are calls with a word changed, or cut.
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

// compareForecast makes a call on a copy of the state, and compares what comes of it with its forecast.
func (o orderChain) compareForecast(t *testing.T, db *state.StateDB, c orderCase, name string, data []byte) {
	t.Helper()
	tx := c.Tx
	tx.Data = data
	snapshot, logs := db.Snapshot(), len(db.Logs())
	output, err := o.call(t, db, tx, c.Block.Timestamp)
	var ids []common.Hash
	for _, l := range db.Logs()[logs:] {
		if l.Address == o.Contracts["dlnSource"] && l.Topics[0] == DlnSource.Topic("CreatedOrder") {
			ids = append(ids, common.Hash(l.Data[32:64]))
		}
	}
	db.RevertToSnapshot(snapshot)
	if err != nil && !errors.Is(err, vm.ErrExecutionReverted) {
		return // out of gas, say
	}
	isMade := err == nil
	said := creation.CallResult{IsReverted: !isMade, Data: append([]byte{}, output...)}
	for _, executed := range []*creation.CallResult{nil, &said} {
		f, is := o.forecast(t, db, tx, c.Block.Timestamp, executed)
		isWhole := executed != nil || len(f.Unknown) == 0
		switch {
		case !is, f.Refusal == nil && !isWhole:
		case isMade && f.Refusal == nil && f.ID != nil && slices.Equal(ids, []common.Hash{common.Hash(*f.ID)}):
		case !isMade && f.Refusal != nil && (!isWhole || f.Refusal.Data == nil || bytes.Equal(f.Refusal.Data, output)):
		case executed == nil && strings.Contains(c.ID, "fee-on-transfer"): // which only a trial shows
		default:
			t.Errorf("%s: %s: reverted %v with %s made %v, forecast %+v, id %v, not known %q", c.ID, name, !isMade, describe(output), ids, f.Refusal, f.ID, f.Unknown)
		}
	}
}

// forecast is what verify says of a transaction, by what the chain says of the whole, if it does.
func (o orderChain) forecast(t *testing.T, db *state.StateDB, tx orderTx, at uint64, executed *creation.CallResult) (creation.Forecast, bool) {
	t.Helper()
	of := func(a common.Address) chain.Address { return chain.NewAddress(a.Bytes()) }
	value, err := chain.ParseAmount(tx.Value)
	if err != nil {
		t.Fatal(err)
	}
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
	for _, v := range creation.Views(posed, posed.Sender, s) {
		v.Read(&s, ask(posed.Sender, v.To, v.Data).Data)
	}
	probes := creation.Probes(posed, posed.Sender, s)
	if f, err := creation.Judge(posed, posed.Sender, s); err == nil {
		if status := f.Status(s.Contracts.DlnSource); status != nil {
			probes = append(probes, *status)
		}
	}
	for _, p := range probes {
		p.Heard(&s, ask(p.From, p.To, p.Data))
	}
	s.Executed = executed
	f, err := creation.Judge(posed, posed.Sender, s)
	return f, err == nil
}
