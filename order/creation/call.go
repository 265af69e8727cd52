package creation

import (
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/onchain"
)

// Call is an order's call on an EVM chain after its fill (dln-contracts, libraries/DlnExternalCallLib.sol).
type Call struct {
	Fallback chain.Address // gets the tokens if the call fails
	Executor chain.Address // contract that decodes Payload; the zero address: the protocol's own, see CallPayload
	Reward   chain.Amount  // of the take token, for executing the call
	Delayed  bool          // the call may be executed later than the fill
	Required bool          // if the call fails, so does the fill
	Payload  []byte
}

// callVersion is the first byte of an order's external call.
const callVersion = 1

// Envelope returns the call as an order carries it. With a reward over 160 bits, no contract can decode it.
func (c Call) Envelope() []byte {
	call := words.Tuple{c.Fallback, c.Executor, c.Reward, c.Delayed, c.Required, c.Payload}
	return append([]byte{callVersion}, words.Encode(call)...)
}

// CallPayload returns the payload that makes the protocol's own executor call a contract, with at most gas; 0: all gas.
func CallPayload(to chain.Address, gas uint32, data []byte) []byte {
	return words.Encode(words.Tuple{to, uint64(gas), data})
}

// refusedSelectors are functions that the protocol's own executor refuses to call: the fallback gets the tokens
// instead.
var refusedSelectors = []words.Selector{
	words.SelectorOf("approve(address,uint256)"), words.SelectorOf("transfer(address,uint256)"),
	words.SelectorOf("transferFrom(address,address,uint256)"), words.SelectorOf("increaseAllowance(address,uint256)"),
}

// ReadCall returns the contract that an order's external call calls, and why no taker can fill the order, whose take
// amount is takes, or nothing can run the call; empty: no fault is known. An envelope has at least one byte. The
// adapter decodes a version byte and (address fallback, address executor, uint160 reward, bool, bool, bytes payload);
// its executor's payload is (address to, uint32 gas, bytes callData) (dln-contracts, libraries/DlnExternalCallLib.sol).
func ReadCall(envelope []byte, takes chain.Amount) (target chain.Address, fault string) {
	if envelope[0] != callVersion {
		return target, fmt.Sprintf("has the unknown version %d", envelope[0])
	}
	w := words.New(envelope[1:]).Tail(0)
	target, payload := w.Address(1), w.Bytes(5)
	w.Address(0)
	w.Address(2) // checks that the reward fits the width of an address
	w.Bool(3)
	mustSucceed := w.Bool(4)
	if w.Err() != nil {
		return target, "is malformed: " + w.Err().Error()
	}
	if reward := w.Amount(2); reward.Cmp(takes) > 0 {
		return target, fmt.Sprintf("has a reward of %s, more than the %s that the order takes", reward, takes)
	}
	if !target.IsNative() {
		return target, "" // decodes the payload in its own way
	}
	p := words.New(payload).Tail(0)
	target = p.Address(0)
	p.Uint(1, 32)
	data := p.Bytes(2)
	switch {
	case p.Err() != nil:
		return target, "is malformed: " + p.Err().Error()
	case len(data) < selectorLength:
		return target, fmt.Sprintf("calls with %d bytes, which is less than a selector", len(data))
	}
	if mustSucceed && (target.IsNative() || slices.Contains(refusedSelectors, words.Selector(data[:selectorLength]))) {
		return target, "must succeed, and calls the zero address or moves tokens, which its executor does not do"
	}
	return target, ""
}

// CallReceiver returns the program that orders with an external call must have as their receiver on Solana, since
// dln_dst delivers to it (docs of hooks for Solana; class DlnDst of @debridge-finance/dln-client 8.3.6). Elsewhere,
// without a call, and if it is unknown, it is absent.
func CallReceiver(take chain.Chain, call []byte) chain.Address {
	if take.Family != chain.SVM || len(call) == 0 {
		return chain.Address{}
	}
	return take.Contracts.ExternalCallAdapter
}

// CanCancelSolanaCall returns why the external call in an onchain.CallAccount cannot be cancelled; nil: it can.
func CanCancelSolanaCall(account []byte) error {
	state, err := onchain.DecodeCallAccount(account)
	switch {
	case err != nil:
		return fmt.Errorf("state of the external call: %w", err)
	case state == order.Completed:
		return ErrCallExecuted
	case !state.IsUnderWay():
		return ErrCallNotOpen
	}
	return nil
}

// CancelSolanaCall returns the instructions with which an order's authority takes the delivery instead of the external
// call: coin into its wallet, tokens of a token program into its associated account, which they open. The accounts are
// those of make_fallback (IDL of extcall_program 1.1.1 and seeds in @debridge-finance/dln-client 8.3.6).
func CancelSolanaCall(c chain.Contracts, id order.ID, t order.Terms, program chain.Address) (made []solana.DraftInstruction) {
	of := func(name string) chain.Address {
		return solana.ProgramAddress(c.ExternalCallAdapter, []byte(name), id[:])
	}
	authority, keeper := t.Authorities.Order, of("AUTH")
	from, to := keeper, authority
	if mint := t.Take.Token; !mint.IsNative() {
		from, to = of("WALLET"), solana.TokenAccount(authority, program, mint)
		made = append(made, solana.OpenTokenAccount(authority, program, mint))
	}
	return append(made, solana.DraftInstruction{
		Program: c.ExternalCallAdapter, Data: onchain.SolanaFallback(id),
		Accounts: []solana.DraftAccount{
			write(onchain.CallAccount(c, id)), read(keeper), write(from), sign(authority), write(to),
			read(solana.SystemProgram), read(program),
		},
	})
}
