package sandbox

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/solana"
)

// message is one that a gate sent, with everything that its claim repeats.
type message struct {
	to         chain.ID
	debridgeID [32]byte
	from       chain.ID
	receiver   common.Address
	nonce      *big.Int
	autoParams []byte // as the claim carries them
	// inbound is the same message for Solana, if that is its destination.
	inbound solana.Inbound
}

// message finds the message about an order that left its take chain.
func (w *World) message(ctx context.Context, o Order) (message, error) {
	if o.TakeChain() == chain.Solana {
		return w.solana.message(o)
	}
	c, err := w.known(o.TakeChain())
	if err != nil {
		return message{}, err
	}
	notices, err := c.notices(ctx)
	if err != nil {
		return message{}, err
	}
	i := slices.IndexFunc(notices, func(n notice) bool { return n.order == o.ID })
	if i < 0 {
		return message{}, fmt.Errorf("no unlock or cancel of order %s has been sent", o.ID)
	}
	submission := notices[i].submission
	notices = slices.DeleteFunc(notices, func(n notice) bool { return n.submission != submission })
	return c.sent(ctx, submission, notices)
}

// notice is DlnDestination's announcement of a message about an order.
type notice struct {
	order       [32]byte
	beneficiary []byte
	submission  [32]byte
	isCancel    bool
}

// notices reads the chain's SentOrderUnlock and SentOrderCancel events.
func (c *Chain) notices(ctx context.Context) (notices []notice, err error) {
	cancel := contracts.DlnDestination.Topic("SentOrderCancel")
	logs, err := c.logs(ctx, c.dlnDestination(), contracts.DlnDestination.Topic("SentOrderUnlock"), cancel)
	for _, log := range logs {
		name, id := "SentOrderUnlock", 0
		if log.Topics[0] == cancel {
			name, id = "SentOrderCancel", 1 // after the order's terms
		}
		values, err := unpack(contracts.DlnDestination, name, log)
		if err != nil {
			return nil, err
		}
		notices = append(notices, notice{
			values[id].([32]byte), values[id+1].([]byte), values[id+2].([32]byte), log.Topics[0] == cancel,
		})
	}
	return notices, err
}

// sent decodes a message from the gate's event. The notices include those of the orders that it is about.
func (c *Chain) sent(ctx context.Context, submission [32]byte, notices []notice) (message, error) {
	logs, err := c.logs(ctx, c.gate(), contracts.DeBridgeGate.Topic("Sent"))
	if err != nil {
		return message{}, err
	}
	for _, log := range logs {
		// Without the indexed fields: submissionId, amount, receiver, nonce, referralCode, feeParams, autoParams,
		// nativeSender.
		values, err := unpack(contracts.DeBridgeGate, "Sent", log)
		if err != nil {
			return message{}, err
		}
		if values[0].([32]byte) != submission {
			continue
		}
		m := message{
			from: c.Facts.ID, to: chain.ID(log.Topics[2].Big().Uint64()), debridgeID: log.Topics[1],
			receiver: common.BytesToAddress(values[2].([]byte)), nonce: values[3].(*big.Int),
		}
		if m.to != chain.Solana {
			m.autoParams, err = claimParams(values[6].([]byte), values[7].(common.Address))
			return m, err
		}
		m.inbound = solana.Inbound{Submission: submission, From: uint64(c.Facts.ID)}
		for _, n := range notices {
			m.inbound.Orders = append(m.inbound.Orders, n.order)
			m.inbound.Beneficiary, m.inbound.Cancel = solana.Key(n.beneficiary), n.isCancel
		}
		return m, nil
	}
	return message{}, fmt.Errorf("the gate of chain %s has not sent message %x", c.Facts.ID, submission)
}

// unpack decodes an event's non-indexed fields.
func unpack(contract *contracts.Contract, event string, log types.Log) ([]any, error) {
	values, err := contract.ABI.Unpack(event, log.Data)
	if err != nil {
		return nil, fmt.Errorf("%s in transaction %s: %w", event, log.TxHash, err)
	}
	return values, nil
}

// claimParams converts the parameters of a sent message to those of its claim: the fallback address takes the receiving
// chain's form, and the sender is added.
func claimParams(sent []byte, sender common.Address) ([]byte, error) {
	values, err := sentParams.Unpack(sent)
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	params := *abi.ConvertType(values[0], new(sentTuple)).(*sentTuple)
	return claimedParams.Pack(claimedTuple{
		ExecutionFee: params.ExecutionFee, Flags: params.Flags, Data: params.Data,
		FallbackAddress: common.BytesToAddress(params.FallbackAddress), NativeSender: sender.Bytes(),
	})
}

type sentTuple struct {
	ExecutionFee    *big.Int
	Flags           *big.Int
	FallbackAddress []byte
	Data            []byte
}

type claimedTuple struct {
	ExecutionFee    *big.Int
	Flags           *big.Int
	FallbackAddress common.Address
	Data            []byte
	NativeSender    []byte
}

// The tuples are encoded inside bytes, so no contract's ABI describes them.
var (
	sentParams    = tuple("executionFee uint256", "flags uint256", "fallbackAddress bytes", "data bytes")
	claimedParams = tuple(
		"executionFee uint256", "flags uint256", "fallbackAddress address", "data bytes", "nativeSender bytes",
	)
)

// tuple returns the encoding of one tuple with fields such as "flags uint256".
func tuple(fields ...string) abi.Arguments {
	var described []abi.ArgumentMarshaling
	for _, field := range fields {
		name, kind, _ := strings.Cut(field, " ")
		described = append(described, abi.ArgumentMarshaling{Name: name, Type: kind})
	}
	return abi.Arguments{{Type: abiType("tuple", described)}}
}

// arguments returns the encoding of several values in a row.
func arguments(fields ...string) (all abi.Arguments) {
	for _, field := range fields {
		name, kind, _ := strings.Cut(field, " ")
		all = append(all, abi.Argument{Name: name, Type: abiType(kind, nil)})
	}
	return all
}

func abiType(name string, fields []abi.ArgumentMarshaling) abi.Type {
	described, err := abi.NewType(name, "", fields)
	if err != nil {
		panic(fmt.Sprintf("sandbox: ABI type %s: %v", name, err))
	}
	return described
}

// claim executes the messages about orders in one transaction. All must be for one chain.
func (w *World) claim(ctx context.Context, at time.Time, orders ...Order) error {
	var messages []message
	for _, o := range orders {
		m, err := w.message(ctx, o)
		if err != nil {
			return err
		}
		messages = append(messages, m)
	}
	if messages[0].to == chain.Solana {
		return w.solana.claim(at, w.cast.keeper, messages...)
	}
	c, err := w.known(messages[0].to)
	if err != nil {
		return err
	}
	var calls []call
	for _, m := range messages {
		from, noSignatures := new(big.Int).SetUint64(uint64(m.from)), []byte{}
		data := contracts.DeBridgeGate.Pack(
			"claim", m.debridgeID, new(big.Int), from, m.receiver, m.nonce, noSignatures, m.autoParams)
		calls = append(calls, call{w.cast.keeper, c.gate(), nil, data})
	}
	_, err = c.execute(ctx, at, together(calls...))
	return err
}
