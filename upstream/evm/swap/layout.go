package swap

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// How long a token's layout is cached: a known one changes only with an upgrade of the contract, and failure to find
// one may have been the node's fault.
const (
	layoutLife   = time.Hour
	noLayoutLife = 10 * time.Minute
)

// layout is where a token's contract stores balances and allowances; nil: unknown.
type layout struct {
	balances, allowances *mapping
	until                time.Time
}

// mapping is a mapping in a contract's storage.
type mapping struct {
	base    [32]byte
	keyLast bool // Vyper hashes the slot before the key, Solidity the key before the slot
}

// slot returns the storage slot of the element under keys, outermost first.
func (m mapping) slot(keys ...chain.Address) chain.Hash {
	at := m.base[:]
	for _, key := range keys {
		if m.keyLast {
			at = crypto.Keccak256(at, words.Encode(key))
			continue
		}
		at = crypto.Keccak256(words.Encode(key), at)
	}
	return chain.Hash(at)
}

// namespace is the slot at which OpenZeppelin's upgradeable ERC-20 keeps its storage since version 5 (ERC-7201,
// openzeppelin.storage.ERC20): balances, then allowances.
var namespace, _ = new(big.Int).SetString("52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00", 16)

// candidates are the mappings in which a token's balances or allowances may be.
var candidates = func() []mapping {
	const solidity, vyper = 60, 12
	var all []mapping
	add := func(slot *big.Int, keyLast bool) {
		all = append(all, mapping{[32]byte(slot.FillBytes(make([]byte, 32))), keyLast})
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

// Placeholder addresses, without known keys.
var (
	placeholderHolder  = chain.NewAddress(crypto.Keccak256([]byte("crossgate: placeholder for a holder"))[12:])
	placeholderSpender = chain.NewAddress(crypto.Keccak256([]byte("crossgate: placeholder for a spender"))[12:])
)

// probeValue returns the number to write into the storage of a candidate; the token then returns that of the right one.
func probeValue(i int) [32]byte {
	return chain.NewAmount(0x63726f7373_0000 + uint64(i)).Bytes32()
}

// layout finds out where a token stores balances and allowances: it is called for an account for which every candidate
// holds a different number.
func (s *Simulator) layout(ctx context.Context, token chain.Address) (layout, error) {
	cached, _ := s.layouts.Get(token)
	if time.Now().Before(cached.until) {
		return cached, nil
	}
	var balance, allowed evm.Payload
	ofBalance := evm.Message{To: token, Data: balanceOf.Call(placeholderHolder)}
	ofAllowance := evm.Message{To: token, Data: allowance.Call(placeholderHolder, placeholderSpender)}
	calls := []*jsonrpc.Call{
		overrides{accounts: probed(token, placeholderHolder)}.call(&balance, "eth_call", ofBalance, "latest"),
		overrides{accounts: probed(token, placeholderHolder, placeholderSpender)}.call(&allowed, "eth_call", ofAllowance, "latest"),
	}
	for _, call := range calls { // that none is found takes two endpoints
		call.MayRevert, call.Doubt = true, func(result any) bool { return recognise(*result.(*evm.Payload)) == nil }
	}
	if err := s.chain.Client().Batch(ctx, calls...); err != nil {
		return layout{}, fmt.Errorf("storage layout of token %s: %w", token, err)
	}
	cached = layout{balances: recognise(balance), allowances: recognise(allowed), until: time.Now().Add(noLayoutLife)}
	if cached.balances != nil && cached.allowances != nil {
		cached.until = time.Now().Add(layoutLife)
	}
	for _, call := range calls {
		if call.Err != nil {
			return cached, nil // an endpoint's failure says nothing about the token
		}
	}
	s.layouts.Put(token, cached)
	return cached, nil
}

// probed returns the token's state with a distinct number in every candidate.
func probed(token chain.Address, keys ...chain.Address) map[chain.Address]override {
	state := make(map[chain.Hash]chain.Hash, len(candidates))
	for i, m := range candidates {
		state[m.slot(keys...)] = probeValue(i)
	}
	return map[chain.Address]override{token: {State: state}}
}

// recognise returns the candidate whose number the answer is, or nil.
func recognise(answer evm.Payload) *mapping {
	for i, m := range candidates {
		if value := probeValue(i); len(answer) == len(value) && [32]byte(answer) == value {
			return &m
		}
	}
	return nil
}
