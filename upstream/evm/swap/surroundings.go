package swap

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// surroundings are everything that a contract can see of its transaction, the same in a simulation. Contracts cannot
// detect one by a missing gas price, a missing coinbase, or a fabulously wealthy sender.
type surroundings struct {
	blocks          []blockOverride // the next ones
	gas             uint64          // limit of the transaction
	gasPrice        chain.Amount    // wei
	coins           chain.Amount    // of the sender
	tokens, allowed chain.Amount    // of the input token: the sender's balance and the spender's allowance
	isRead          bool            // whether all that the sender has could be read
	meter           chain.Address   // where meterCode is, in this simulation only
}

// suffice reports whether the sender is known to have the coins and tokens that a transaction takes.
func (s surroundings) suffice(t quote.Simulation) bool {
	return s.isRead && s.coins.Cmp(t.Tx.Value) >= 0 && (t.In.IsNative() || s.tokens.Cmp(t.AmountIn) >= 0)
}

// withoutOverrides is why nothing can be simulated for a sender who seems to lack something.
func (s surroundings) withoutOverrides() error {
	lacks := quote.ErrSenderLacks
	if !s.isRead {
		lacks = errors.New("it is not known what the sender has")
	}
	return fmt.Errorf("%w: %w, and no endpoint takes overrides of states", quote.ErrNotSimulated, lacks)
}

// gasMoney returns the most that the sender pays for gas, in wei.
func (s surroundings) gasMoney() chain.Amount { return s.gasPrice.MulDiv(s.gas, 1) }

// blockOverride is the header of a simulated block (execution-apis, eth_simulateV1).
type blockOverride struct {
	Time       evm.Quantity  `json:"time"`
	Coinbase   chain.Address `json:"feeRecipient"`
	BaseFee    *evm.Amount   `json:"baseFeePerGas,omitempty"` // nil on chains without one
	PrevRandao chain.Hash    `json:"prevRandao"`
}

// headBlock is the part of a block that the next ones are derived from.
type headBlock struct {
	Time     evm.Quantity  `json:"timestamp"`
	Coinbase chain.Address `json:"miner"`
	BaseFee  *evm.Amount   `json:"baseFeePerGas"`
}

// simulatedBlocks is the number of blocks in which a transaction is simulated.
const simulatedBlocks = 2

// The gas limit in a simulation is a multiple of the expectation, and no less than wallets offer for a swap. If that is
// too little, as on chains that count gas in large units, the need is estimated.
const (
	gasFactor = 3
	leastGas  = 1_500_000
)

// surroundings reads the newest block, the price of gas, and what the sender has, in one round trip.
func (s *Simulator) surroundings(ctx context.Context, t quote.Simulation) (surroundings, error) {
	now := surroundings{gas: max(leastGas, gasFactor*t.Gas)}
	var head headBlock
	var price, coins evm.Amount
	var tokens, allowed evm.Payload
	headCall := jsonrpc.NewCall(&head, nil, "eth_getBlockByNumber", "latest", false)
	priceCall := jsonrpc.NewCall(&price, nil, "eth_gasPrice")
	calls := []*jsonrpc.Call{headCall, priceCall, coinsCall(&coins, t.Sender, jsonrpc.Greater)}
	if !t.In.IsNative() {
		calls = append(calls, wordCall(&tokens, t.In, balanceOf.Call(t.Sender), jsonrpc.Greater),
			wordCall(&allowed, t.In, allowance.Call(t.Sender, t.Spender), jsonrpc.Greater))
	}
	if !s.isBare() { // overrides give them to the sender
		for _, call := range calls[2:] {
			call.Doubt = nil
		}
	}
	s.chain.Client().Each(ctx, calls...)
	if s.isBare() {
		s.chain.Client().Again(ctx, calls...)
	}
	if headCall.Err != nil || priceCall.Err != nil {
		return now, fmt.Errorf("%w: the newest block could not be read: %w", quote.ErrNotSimulated, errors.Join(headCall.Err, priceCall.Err))
	}
	now.isRead = !slices.ContainsFunc(calls, func(c *jsonrpc.Call) bool { return c.Err != nil }) &&
		(t.In.IsNative() || len(tokens) == words.Size && len(allowed) == words.Size)
	now.gasPrice, now.coins = price.Amount, coins.Amount
	now.tokens, now.allowed = wordAmount(tokens), wordAmount(allowed)
	now.blocks = head.next(s.chain.Facts().BlockTime)
	if floor := now.blocks[len(now.blocks)-1].BaseFee; floor != nil && now.gasPrice.Cmp(floor.Amount) < 0 {
		now.gasPrice = floor.Amount
	}
	if s.chain.Facts().Family == chain.TVM { // where energy need not be paid for in coins
		now.gasPrice = chain.Amount{}
	}
	var address [20]byte
	_, _ = rand.Read(address[:]) // it never fails
	now.meter = chain.NewAddress(address[:])
	return now, nil
}

// next returns the headers of the blocks after h. The first one is late enough to follow a block that has come since.
func (h headBlock) next(blockTime time.Duration) []blockOverride {
	step := uint64(max(blockTime.Round(time.Second)/time.Second, 1))
	blocks := make([]blockOverride, simulatedBlocks)
	for i := range blocks {
		b := blockOverride{Time: h.Time + evm.Quantity(step*uint64(i+2)), Coinbase: h.Coinbase}
		if h.BaseFee != nil {
			// A base fee moves by an eighth at most.
			b.BaseFee = &evm.Amount{Amount: h.BaseFee.Add(h.BaseFee.MulDiv(uint64(i), 8))}
		}
		_, _ = rand.Read(b.PrevRandao[:])
		blocks[i] = b
	}
	return blocks
}

// wordAmount returns the number in a word; zero if the answer is not a word.
func wordAmount(answer evm.Payload) chain.Amount {
	if len(answer) != 32 {
		return chain.Amount{}
	}
	return chain.AmountFromBytes(answer)
}
