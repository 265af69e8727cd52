package evm

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/upstream/jsonrpc"
)

// How long a token's layout counts: one that was found changes with an upgrade of its contract, one that was
// not found may have been the node's fault.
const (
	layoutLife    = time.Hour
	noLayoutLife  = 10 * time.Minute
	layoutsAtMost = 10_000
)

// layout is where a token's contract keeps its numbers; nil: it is not known where.
type layout struct {
	balances, allowances *mapping
	until                time.Time
}

// mapping is a mapping in a contract's storage.
type mapping struct {
	base      [32]byte
	keyBehind bool // Vyper hashes the slot before the key, Solidity the key before the slot
}

// slot is where the element under keys is, outermost first.
func (m mapping) slot(keys ...chain.Address) chain.Hash {
	at := m.base[:]
	for _, key := range keys {
		if m.keyBehind {
			at = crypto.Keccak256(at, paddedAddress(key))
			continue
		}
		at = crypto.Keccak256(paddedAddress(key), at)
	}
	return chain.Hash(at)
}

// namespace is where OpenZeppelin's upgradeable ERC-20 keeps its storage since version 5 (ERC-7201,
// openzeppelin.storage.ERC20): balances, then allowances.
var namespace, _ = new(big.Int).SetString("52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00", 16)

// candidates are the mappings that a token's balances or allowances may be.
var candidates = func() []mapping {
	const solidity, vyper = 60, 12
	var all []mapping
	add := func(slot *big.Int, keyBehind bool) {
		all = append(all, mapping{[32]byte(slot.FillBytes(make([]byte, 32))), keyBehind})
	}
	for i := range int64(solidity) {
		add(big.NewInt(i), false)
	}
	for i := range int64(vyper) {
		add(big.NewInt(i), true)
	}
	add(namespace, false)
	add(new(big.Int).Add(namespace, big.NewInt(1)), false)
	return all
}()

// Two accounts that nobody has the keys of.
var (
	probeHolder  = chain.NewAddress(crypto.Keccak256([]byte("crossgate: somebody who holds"))[12:])
	probeSpender = chain.NewAddress(crypto.Keccak256([]byte("crossgate: somebody who spends"))[12:])
)

// probeValue is what is written into the storage of a candidate; what the token then tells is whose it is.
func probeValue(i int) [32]byte {
	return chain.NewAmount(0x63726f7373_0000 + uint64(i)).Bytes32()
}

// layout finds out where a token keeps balances and allowances: it is asked about an account for which every
// candidate holds another number.
func (s *Simulator) layout(ctx context.Context, token chain.Address) (layout, error) {
	s.mu.Lock()
	kept, seen := s.layouts[token]
	s.mu.Unlock()
	if seen && time.Now().Before(kept.until) {
		return kept, nil
	}
	var balance, allowance payload
	balanceQuestion := message{To: token, Data: append(balanceOfSelector[:4:4], paddedAddress(probeHolder)...)}
	allowanceQuestion := message{To: token, Data: append(append(selector("allowance(address,address)"),
		paddedAddress(probeHolder)...), paddedAddress(probeSpender)...)}
	calls := []*jsonrpc.Call{
		jsonrpc.NewCall(&balance, nil, "eth_call", balanceQuestion, "latest", probed(token, probeHolder)),
		jsonrpc.NewCall(&allowance, nil, "eth_call", allowanceQuestion, "latest", probed(token, probeHolder, probeSpender)),
	}
	if err := s.chain.rpc.Batch(ctx, calls...); err != nil {
		return layout{}, fmt.Errorf("layout of token %s: %w", token, err)
	}
	kept = layout{balances: recognise(balance), allowances: recognise(allowance), until: time.Now().Add(noLayoutLife)}
	if kept.balances != nil && kept.allowances != nil {
		kept.until = time.Now().Add(layoutLife)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.layouts) >= layoutsAtMost {
		clear(s.layouts)
	}
	s.layouts[token] = kept
	return kept, nil
}

// probed is the token's state with a number of its own in every candidate.
func probed(token chain.Address, keys ...chain.Address) map[chain.Address]override {
	state := make(map[chain.Hash]word32, len(candidates))
	for i, m := range candidates {
		state[m.slot(keys...)] = probeValue(i)
	}
	return map[chain.Address]override{token: {State: state}}
}

// recognise returns the candidate whose number the answer is, nil for none.
func recognise(answer payload) *mapping {
	for i, m := range candidates {
		if value := probeValue(i); len(answer) == len(value) && [32]byte(answer) == value {
			return &m
		}
	}
	return nil
}
