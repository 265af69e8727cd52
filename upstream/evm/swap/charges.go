package swap

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote/crosschain"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// chargesLife is how long charges are believed: they change by governance.
const chargesLife = time.Minute

// Charges reads what the order contracts of a chain take. Safe for concurrent use.
type Charges struct {
	chain *evm.Chain
	known atomic.Pointer[knownCharges]
}

type knownCharges struct {
	crosschain.Charges
	until time.Time
}

// NewCharges returns a reader of the order contracts of c.
func NewCharges(c *evm.Chain) *Charges { return &Charges{chain: c} }

// HasCode reports whether a contract stands at an address on the newest block.
func (c *Charges) HasCode(ctx context.Context, at chain.Address) (bool, error) {
	var code evm.Payload
	err := c.chain.Client().All(ctx, jsonrpc.NewCall(&code, nil, "eth_getCode", at, "latest"))
	return len(code) > 0, err
}

// Read asks DlnSource and the gate, in one round trip and mostly in none (dln-contracts, DlnSource.sol and
// DeBridgeGate.sol). Chains whose gate is not known have no message fee.
func (c *Charges) Read(ctx context.Context) (crosschain.Charges, error) {
	if known := c.known.Load(); known != nil && time.Now().Before(known.until) {
		return known.Charges, nil
	}
	contracts := c.chain.Facts().Contracts
	asked := []chain.Address{contracts.DlnSource, contracts.DlnSource, contracts.Gate}
	calls := [][]byte{words.Call("globalFixedNativeFee()"), words.Call("globalTransferFeeBps()"), words.Call("globalFixedNativeFee()")}
	if contracts.Gate.IsAbsent() {
		asked, calls = asked[:2], calls[:2]
	}
	answers, err := c.chain.CallAll(ctx, asked, calls)
	if err != nil {
		return crosschain.Charges{}, fmt.Errorf("charges of the order contracts: %w", err)
	}
	if slices.ContainsFunc(answers, func(answer []byte) bool { return len(answer) != 32 }) {
		return crosschain.Charges{}, fmt.Errorf("charges of the order contracts: chain %d has others", c.chain.Facts().ID)
	}
	bps, fits := chain.AmountFromBytes(answers[1]).Uint64()
	if !fits || bps >= 10_000 {
		return crosschain.Charges{}, fmt.Errorf("the order contract of chain %d takes all", c.chain.Facts().ID)
	}
	read := &knownCharges{until: time.Now().Add(chargesLife)}
	read.Charges = crosschain.Charges{Fixed: chain.AmountFromBytes(answers[0]), TransferBps: int(bps)}
	if len(answers) > 2 {
		read.Message = chain.AmountFromBytes(answers[2])
	}
	c.known.Store(read)
	return read.Charges, nil
}
