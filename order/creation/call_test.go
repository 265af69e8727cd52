package creation_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order/creation"
)

// TestCallEnvelopesAreThoseThatWereExecuted re-encodes the external calls of orders that the contracts fulfilled.
func TestCallEnvelopesAreThoseThatWereExecuted(t *testing.T) {
	seen := 0
	for _, v := range readVectors(t, "orders-vectors-A.json") {
		c, _, err := parse(v.Tx.Data)
		if err != nil || len(c.ExternalCall) < 1+32*8 || c.ExternalCall[0] != 1 {
			continue
		}
		w := c.ExternalCall[1+32:] // after the tuple's offset
		call := creation.Call{
			Fallback: chain.NewAddress(w[12:32]), Executor: chain.NewAddress(w[44:64]), Reward: chain.AmountFromBytes(w[64:96]),
			Delayed: w[127] == 1, Required: w[159] == 1,
		}
		length, _ := chain.AmountFromBytes(w[192:224]).Uint64()
		call.Payload = w[224 : 224+length]
		if got := call.Envelope(); !bytes.Equal(got, c.ExternalCall) {
			t.Errorf("%s: Envelope() = %x, want %x", v.ID, got, c.ExternalCall)
		}
		target, fault := creation.ReadCall(c.ExternalCall, c.Take.Amount)
		if (fault != "") != (strings.Contains(v.ID, "short-calldata") || strings.Contains(v.ID, "ext-fee-too-high")) || !call.Executor.IsNative() && target != call.Executor {
			t.Errorf("%s: it calls %s, %q, by the executor %s", v.ID, target, fault, call.Executor)
		}
		if p := call.Payload; call.Executor.IsNative() && len(p) >= 5*32 {
			to, data := chain.NewAddress(p[32+12:64]), p[5*32:]
			length, _ := chain.AmountFromBytes(p[4*32 : 5*32]).Uint64()
			gas, _ := chain.AmountFromBytes(p[2*32 : 3*32]).Uint64()
			if got := creation.CallPayload(to, uint32(gas), data[:length]); !bytes.Equal(got, p) {
				t.Errorf("%s: CallPayload() = %x, want %x", v.ID, got, p)
			}
		}
		seen++
		call.Executor, call.Payload, call.Reward = call.Fallback, []byte{1}, chain.Amount{}
		if target, fault := creation.ReadCall(call.Envelope(), c.Take.Amount); target != call.Fallback || fault != "" {
			t.Errorf("%s: by an executor of its own it calls %s, %q", v.ID, target, fault)
		}
	}
	if seen < 5 {
		t.Errorf("%d external calls were seen, want several", seen)
	}
}

// TestFaultsOfCallsAreNamed reads calls that prevent the order's fulfilment, or can never be executed themselves
// (DlnExternalCallAdapter.sol, ExternalCallExecutor.sol 1.0.2).
func TestFaultsOfCallsAreNamed(t *testing.T) {
	target, taken := chain.NewAddress(bytes.Repeat([]byte{7}, 20)), chain.NewAmount(1000)
	zero := chain.NativeCoin(chain.EVM)
	payload := func(to chain.Address, selector string) []byte { return creation.CallPayload(to, 0, []byte(selector)) }
	whole := creation.Call{Fallback: target, Executor: zero, Required: true, Payload: payload(target, "call")}
	wide := whole.Envelope()
	wide[1+32+2*32] = 1 // the upper bits of the reward
	for name, row := range map[string]struct {
		change func(*creation.Call)
		want   string
	}{
		"none":                             {func(*creation.Call) {}, ""},
		"a reward of all":                  {func(c *creation.Call) { c.Reward = taken }, ""},
		"a reward above the take amount":   {func(c *creation.Call) { c.Reward = chain.NewAmount(1001) }, "reward"},
		"approve, which must succeed":      {func(c *creation.Call) { c.Payload = payload(target, "\x09\x5e\xa7\xb3") }, "must succeed"},
		"transfer, which must succeed":     {func(c *creation.Call) { c.Payload = payload(target, "\xa9\x05\x9c\xbb") }, "must succeed"},
		"transfer, which may fail":         {func(c *creation.Call) { c.Payload, c.Required = payload(target, "\xa9\x05\x9c\xbb"), false }, ""},
		"the zero address must succeed":    {func(c *creation.Call) { c.Payload = payload(zero, "call") }, "must succeed"},
		"another executor's own payload":   {func(c *creation.Call) { c.Executor, c.Payload = target, []byte{1} }, ""},
		"less than a selector":             {func(c *creation.Call) { c.Payload = payload(target, "abc") }, "less than a selector"},
		"nothing that the executor reads ": {func(c *creation.Call) { c.Payload = nil }, "malformed"},
	} {
		call := whole
		row.change(&call)
		_, fault := creation.ReadCall(call.Envelope(), taken)
		if (fault == "") != (row.want == "") || !strings.Contains(fault, row.want) {
			t.Errorf("%s: %q, want %q", name, fault, row.want)
		}
	}
	costly := whole
	costly.Payload = slices.Clone(whole.Payload)
	costly.Payload[32+32] = 1 // the upper bits of the gas
	for name, envelope := range map[string][]byte{"a reward of more than 160 bits": wide, "a gas of more than 32 bits": costly.Envelope()} {
		if _, fault := creation.ReadCall(envelope, taken); !strings.Contains(fault, "malformed") {
			t.Errorf("%s: %q", name, fault)
		}
	}
}
