package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
)

// envelopeVersion is the first byte of an external call: dln-contracts, DlnExternalCallLib.
const envelopeVersion = 1

// envelope is the encoding in which an order carries its external call.
type envelope struct {
	FallbackAddress             common.Address // receives what the call leaves unspent, or everything if it fails
	ExecutorAddress             common.Address
	ExecutionFee                *big.Int // in the take token, paid to the executor
	AllowDelayedExecution       bool
	RequireSuccessfullExecution bool
	Payload                     []byte
}

var (
	envelopeFields = tuple(
		"fallbackAddress address", "executorAddress address", "executionFee uint160",
		"allowDelayedExecution bool", "requireSuccessfullExecution bool", "payload bytes",
	)
	payloadFields = arguments("target address", "gas uint32", "data bytes")
)

// call wraps a call of the target contract. A thousandth of the take amount goes to the executor; what the call does
// not spend returns to the maker.
func (p proposal) call(method string, args ...any) []byte {
	const callGas, feeShare = 200_000, 1000
	payload, err := payloadFields.Pack(callTarget, uint32(callGas), contracts.CallTarget.Pack(method, args...))
	body, packed := envelopeFields.Pack(envelope{
		FallbackAddress: p.maker.Address, ExecutionFee: new(big.Int).Div(p.takeAmount, big.NewInt(feeShare)),
		AllowDelayedExecution: true, Payload: payload,
	})
	if err := errors.Join(err, packed); err != nil {
		panic(fmt.Sprintf("external call: %v", err))
	}
	return append([]byte{envelopeVersion}, body...)
}

// deposit returns a call that deposits half of the take amount for the maker.
func (p proposal) deposit() []byte {
	half := new(big.Int).Div(p.takeAmount, big.NewInt(2))
	return p.call("deposit", common.BytesToAddress(p.takeToken), half, p.maker.Address)
}

// refusedCall returns a call that always fails.
func (p proposal) refusedCall(reason string) []byte { return p.call("refuse", reason) }

// executeCall runs the registered call of a fulfilled order, on Solana only its first instructions unless whole.
func (w *World) executeCall(ctx context.Context, at time.Time, o Order, by Account, whole bool) error {
	if o.TakeChain() == chain.Solana {
		return w.solana.ledger.ExecuteCall(at, o.terms, by.Wallet, whole)
	}
	data := contracts.ExternalCallAdapter.Pack(
		"executeCall", o.ID, common.BytesToAddress(o.terms.Authority),
		common.BytesToAddress(o.terms.TakeToken), o.terms.TakeAmount, o.terms.ExternalCall, by.Address)
	return w.transact(ctx, at, o.TakeChain(), by, (*Chain).callAdapter, data)
}

// cancelCall pays out the tokens of a registered call to recipient, or on Solana to the account that cancels it.
func (w *World) cancelCall(ctx context.Context, at time.Time, o Order, by Account, recipient common.Address) error {
	if o.TakeChain() == chain.Solana {
		return w.solana.ledger.FallBack(at, o.terms, by.Wallet)
	}
	data := contracts.ExternalCallAdapter.Pack("cancelCall", o.ID, by.Address,
		common.BytesToAddress(o.terms.TakeToken), o.terms.TakeAmount, recipient, crypto.Keccak256Hash(o.terms.ExternalCall))
	return w.transact(ctx, at, o.TakeChain(), by, (*Chain).callAdapter, data)
}
