package sandbox

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/sandbox/contracts"
)

// envelopeVersion is the first byte of an external call: dln-contracts, DlnExternalCallLib.
const envelopeVersion = 1

// envelope is how an order carries its call.
type envelope struct {
	FallbackAddress             common.Address // receives what the call leaves, or everything when it fails
	ExecutorAddress             common.Address
	ExecutionFee                *big.Int // take token, to whoever runs it
	AllowDelayedExecution       bool
	RequireSuccessfullExecution bool
	Payload                     []byte
}

var (
	envelopeFields = tuple(
		abi.ArgumentMarshaling{Name: "fallbackAddress", Type: "address"},
		abi.ArgumentMarshaling{Name: "executorAddress", Type: "address"},
		abi.ArgumentMarshaling{Name: "executionFee", Type: "uint160"},
		abi.ArgumentMarshaling{Name: "allowDelayedExecution", Type: "bool"},
		abi.ArgumentMarshaling{Name: "requireSuccessfullExecution", Type: "bool"},
		abi.ArgumentMarshaling{Name: "payload", Type: "bytes"},
	)
	payloadFields = abi.Arguments{{Type: elementary("address")}, {Type: elementary("uint32")}, {Type: elementary("bytes")}}
)

func elementary(name string) abi.Type {
	described, err := abi.NewType(name, "", nil)
	if err != nil {
		panic(fmt.Sprintf("sandbox type %s: %v", name, err))
	}
	return described
}

// externalCall wraps a call of the target contract; whatever it does not spend goes to fallback.
func externalCall(fallback common.Address, fee *big.Int, data []byte) []byte {
	const callGas = 200_000
	payload, err := payloadFields.Pack(callTarget, uint32(callGas), data)
	if err != nil {
		panic(fmt.Sprintf("external call payload: %v", err))
	}
	body, err := envelopeFields.Pack(envelope{
		FallbackAddress: fallback, ExecutionFee: fee, AllowDelayedExecution: true, Payload: payload,
	})
	if err != nil {
		panic(fmt.Sprintf("external call envelope: %v", err))
	}
	return append([]byte{envelopeVersion}, body...)
}

// depositCall keeps amount of token for beneficiary; refusedCall always fails.
func depositCall(token common.Address, amount *big.Int, beneficiary common.Address) []byte {
	return contracts.CallTarget.Pack("deposit", token, amount, beneficiary)
}

func refusedCall(reason string) []byte { return contracts.CallTarget.Pack("refuse", reason) }

// executeCall runs the registered call of a fulfilled order.
func (w *World) executeCall(ctx context.Context, at time.Time, o Order, by Account) error {
	c, err := w.known(o.TakeChain())
	if err != nil {
		return err
	}
	data := contracts.ExternalCallAdapter.Pack("executeCall", o.ID, common.BytesToAddress(o.terms.OrderAuthorityAddressDst),
		common.BytesToAddress(o.terms.TakeTokenAddress), o.terms.TakeAmount, o.terms.ExternalCall, by.Address)
	if _, err := c.execute(ctx, at, call{by, externalCallAdapter, nil, data}); err != nil {
		return fmt.Errorf("execute external call of order %s: %w", o.ID, err)
	}
	return nil
}

// cancelCall gives the tokens of a registered call to recipient instead.
func (w *World) cancelCall(ctx context.Context, at time.Time, o Order, authority Account, recipient common.Address) error {
	c, err := w.known(o.TakeChain())
	if err != nil {
		return err
	}
	data := contracts.ExternalCallAdapter.Pack("cancelCall", o.ID, authority.Address,
		common.BytesToAddress(o.terms.TakeTokenAddress), o.terms.TakeAmount, recipient, o.terms.ExternalCall)
	if _, err := c.execute(ctx, at, call{authority, externalCallAdapter, nil, data}); err != nil {
		return fmt.Errorf("cancel external call of order %s: %w", o.ID, err)
	}
	return nil
}
