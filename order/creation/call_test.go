package creation_test

import (
	"bytes"
	"testing"

	"crossgate/chain"
	"crossgate/order/creation"
)

// TestCallEnvelopesAreThoseThatWereExecuted writes again the external calls of orders that the contracts filled.
func TestCallEnvelopesAreThoseThatWereExecuted(t *testing.T) {
	seen := 0
	for _, v := range readVectors(t, "orders-vectors-A.json").Cases {
		c, _, err := parse(v.Tx.Data)
		if err != nil || len(c.ExternalCall) < 1+32*8 || c.ExternalCall[0] != 1 {
			continue
		}
		w := c.ExternalCall[1+32:] // behind the tuple's offset
		call := creation.Call{
			Fallback: chain.NewAddress(w[12:32]), Executor: chain.NewAddress(w[44:64]), Reward: chain.AmountFromBytes(w[64:96]),
			Delayed: w[127] == 1, Required: w[159] == 1,
		}
		length, _ := chain.AmountFromBytes(w[192:224]).Uint64()
		call.Payload = w[224 : 224+length]
		if got := call.Envelope(); !bytes.Equal(got, c.ExternalCall) {
			t.Errorf("%s: Envelope() = %x, want %x", v.ID, got, c.ExternalCall)
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
	}
	if seen < 5 {
		t.Errorf("%d external calls were seen, want several", seen)
	}
}
