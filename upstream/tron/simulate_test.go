package tron_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/upstream/evm/swap"
)

// account is what a node says of a sender, and of the transaction that it is asked to run.
type account struct {
	coins, tokens int
	allowed       string // answer of the token
	energy        string // member of the answer
	returned      string
}

// at returns a simulator of a node that says so.
func (a account) at(t *testing.T) *swap.Simulator {
	t.Helper()
	return swap.NewSimulator(serveBy(t, a.members))
}

func (a account) members(c rpctest.Call) string {
	has := func(function string) bool {
		return c.Method == "eth_call" && strings.Contains(string(c.Params[0]), fmt.Sprintf("%x", words.Call(function)))
	}
	switch {
	case c.Method == "eth_call" && strings.Contains(string(c.Params[0]), `"input"`): // java-tron before version 4.8.2
		return `"error":{"code":-32700,"message":"JSON parse error"}`
	case c.Method == "eth_call" && len(c.Params) > 2:
		return `"error":{"code":-32602,"message":"method parameters invalid"}`
	case c.Method == "eth_gasPrice":
		return `"result":"0x64"`
	case c.Method == "eth_getBlockByNumber":
		return `"result":{"number":"0x3e8","timestamp":"0x6553f100","miner":"0x0000000000000000000000000000000000000001"}`
	case c.Method == "eth_chainId":
		return `"result":"0x2b6653dc"`
	case c.Method == "eth_getBalance":
		return fmt.Sprintf(`"result":"0x%x"`, a.coins)
	case c.Method == "eth_estimateGas":
		return a.energy
	case has("globalFixedNativeFee()"):
		return fmt.Sprintf(`"result":"0x%064x"`, gateFee)
	case has("balanceOf(address)"):
		return fmt.Sprintf(`"result":"0x%064x"`, a.tokens)
	case has("allowance(address,address)"):
		return fmt.Sprintf(`"result":%q`, a.allowed)
	}
	if c.Method == "eth_call" && a.energy == reverts {
		return reverts
	}
	return fmt.Sprintf(`"result":%q`, a.returned)
}

var (
	sender = chain.NewAddress([]byte("sender's 20 bytes..."))
	usdt   = chain.NewAddress([]byte("a token's 20 bytes.."))
)

const gateFee = 7 // sun

const runs, reverts = `"result":"0x30000"`, `"error":{"code":-32000,"message":"REVERT opcode executed","data":"{}"}`

// TestOnlySendersWithTheInputAreSimulated: nodes cannot give them anything. The transaction takes 5 of a token.
func TestOnlySendersWithTheInputAreSimulated(t *testing.T) {
	enough, tooLittle := fmt.Sprintf("0x%064x", 5), fmt.Sprintf("0x%064x", 4)
	for name, row := range map[string]struct {
		account     account
		in          chain.Address
		isPermitted bool
		value       uint64 // sun
		want        error
	}{
		"enough":               {account{3, 5, enough, runs, "0x"}, usdt, false, 3, nil},
		"it fails":             {account{3, 5, enough, reverts, "0x"}, usdt, false, 3, quote.ErrReverted},
		"too few coins":        {account{2, 5, enough, runs, "0x"}, usdt, false, 3, quote.ErrSenderLacks},
		"too few tokens":       {account{3, 4, enough, runs, "0x"}, usdt, false, 3, quote.ErrSenderLacks},
		"not approved":         {account{3, 5, tooLittle, runs, "0x"}, usdt, false, 3, quote.ErrNotSimulated},
		"by a permit":          {account{3, 5, tooLittle, runs, "0x"}, usdt, true, 3, nil},
		"of the coin":          {account{3, 0, "0x", runs, "0x"}, chain.NativeCoin(chain.TVM), false, 3, nil},
		"no allowance":         {account{3, 5, "0x", runs, "0x"}, usdt, false, 3, quote.ErrNotSimulated},
		"too few, for nothing": {account{0, 4, enough, runs, "0x"}, usdt, false, 0, quote.ErrSenderLacks},
		"not of any coins":     {account{2, 0, "0x", runs, "0x"}, chain.NativeCoin(chain.TVM), false, 3, quote.ErrSenderLacks},
	} {
		got, err := row.account.at(t).Simulate(t.Context(), quote.Simulation{
			Sender: sender, In: row.in, Out: usdt, AmountIn: chain.NewAmount(5), Spender: usdt, IsPermitted: row.isPermitted,
			Tx: quote.Tx{To: usdt, Data: make([]byte, 4), Value: chain.NewAmount(row.value)},
		})
		if !errors.Is(err, row.want) || errors.Is(err, quote.ErrSenderLacks) != errors.Is(row.want, quote.ErrSenderLacks) || err == nil && got != (quote.Result{Gas: 0x30000}) {
			t.Errorf("%s: %+v, %v, want %v", name, got, err, row.want)
		}
	}
}

// TestCreationsReturnTheOrdersID, if the sender pays DlnSource without a router.
func TestCreationsReturnTheOrdersID(t *testing.T) {
	facts, _ := chain.Documented().Chain(chain.Tron)
	salt := uint64(7)
	made := creation.Creation{
		GiveToken: chain.NativeCoin(chain.TVM), GiveAmount: chain.NewAmount(9), Salt: &salt, Receiver: sender,
		Take: order.Offer{Chain: 1, Token: usdt, Amount: chain.NewAmount(9)}, Authorities: order.Authorities{GivePatch: sender, Order: sender},
	}
	id := onchain.ID(made.Terms(facts.ID, sender, salt, made.GiveAmount))
	returned := fmt.Sprintf("0x%x", id[:])
	for name, row := range map[string]struct {
		account account
		to      chain.Address
		data    []byte
		want    error
	}{
		"the id":           {account{10, 0, "0x", runs, returned}, facts.Contracts.DlnSource, made.Data(), nil},
		"another id":       {account{10, 0, "0x", runs, "0x01"}, facts.Contracts.DlnSource, made.Data(), creation.ErrBroken},
		"refused":          {account{10, 0, "0x", reverts, returned}, facts.Contracts.DlnSource, made.Data(), quote.ErrReverted},
		"too few coins":    {account{9, 0, "0x", runs, returned}, facts.Contracts.DlnSource, made.Data(), quote.ErrSenderLacks},
		"another function": {account{10, 0, "0x", runs, returned}, facts.Contracts.DlnSource, made.Data()[1:], creation.ErrBroken},
		"elsewhere":        {account{10, 0, "0x", runs, returned}, usdt, made.Data(), quote.ErrNotSimulated},
	} {
		energy, err := row.account.at(t).Creation(t.Context(),
			creation.Transaction{Sender: sender, To: row.to, Value: chain.NewAmount(10), Data: row.data}, creation.Promise{ID: id})
		if !errors.Is(err, row.want) || (err == nil) != (energy == 0x30000) {
			t.Errorf("%s: %d, %v, want %v", name, energy, err, row.want)
		}
	}
}

// TestCancelsNeedTheirFeeAlone: nodes refuse overrides of states, and older ones a message in the words of newer ones.
func TestCancelsNeedTheirFeeAlone(t *testing.T) {
	terms := order.Terms{Give: order.Offer{Chain: 1}, Maker: sender, Authorities: order.Authorities{GivePatch: sender, Order: sender}}
	for coins, want := range map[int]error{gateFee: nil, gateFee - 1: quote.ErrSenderLacks} {
		has := account{coins: coins, returned: fmt.Sprintf("0x%x", words.Encode(0, 0, 0))}
		if tx, err := has.at(t).Cancel(t.Context(), order.ID{1}, terms); !errors.Is(err, want) || tx.Value != chain.NewAmount(gateFee) {
			t.Errorf("cancel by a sender with %d sun: value %s, %v, want %v", coins, tx.Value, err, want)
		}
	}
}
