package sandbox

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/solana"
)

// message is what a gate sent, with everything that its claim repeats.
type message struct {
	to         chain.ID
	debridgeID [32]byte
	from       chain.ID
	receiver   common.Address
	nonce      *big.Int
	autoParams []byte // as a claim carries them
	// inbound is the same for Solana, when the message goes there.
	inbound solana.Inbound
}

// message finds the newest word about the order that left its take chain.
func (w *World) message(ctx context.Context, o Order) (message, error) {
	if o.TakeChain() == chain.Solana {
		return w.solana.message(o)
	}
	c, err := w.known(o.TakeChain())
	if err != nil {
		return message{}, err
	}
	destination := contracts.DlnDestination
	logs, err := c.logs(ctx, c.dlnDestination(), destination.Topic("SentOrderUnlock"), destination.Topic("SentOrderCancel"))
	if err != nil {
		return message{}, err
	}
	for _, log := range logs {
		about, err := wordIn(log)
		if err != nil {
			return message{}, err
		}
		if about.order == o.ID {
			return c.sent(ctx, log.TxHash, about.submission)
		}
	}
	return message{}, fmt.Errorf("no unlock or cancel of order %s has been sent", o.ID)
}

// word is what DlnDestination announces of an order that a message is about.
type word struct {
	order       [32]byte
	beneficiary []byte
	submission  [32]byte
	isCancel    bool
}

// wordIn reads SentOrderUnlock and SentOrderCancel.
func wordIn(log types.Log) (word, error) {
	name, id := "SentOrderUnlock", 0
	isCancel := log.Topics[0] == contracts.DlnDestination.Topic("SentOrderCancel")
	if isCancel {
		name, id = "SentOrderCancel", 1 // behind the order's terms
	}
	values, err := contracts.DlnDestination.ABI.Unpack(name, log.Data)
	if err != nil {
		return word{}, fmt.Errorf("%s in transaction %s: %w", name, log.TxHash, err)
	}
	return word{values[id].([32]byte), values[id+1].([]byte), values[id+2].([32]byte), isCancel}, nil
}

// sent reads a message out of the gate's event in the transaction that sent it.
func (c *Chain) sent(ctx context.Context, tx common.Hash, submission [32]byte) (message, error) {
	receipt, err := c.node.client.TransactionReceipt(ctx, tx)
	if err != nil {
		return message{}, fmt.Errorf("receipt of %s: %w", tx, err)
	}
	for _, log := range receipt.Logs {
		if log.Address != c.gate() || log.Topics[0] != contracts.DeBridgeGate.Topic("Sent") {
			continue
		}
		values, err := contracts.DeBridgeGate.ABI.Unpack("Sent", log.Data)
		if err != nil {
			return message{}, fmt.Errorf("message in transaction %s: %w", tx, err)
		}
		if values[0].([32]byte) != submission {
			continue
		}
		// Without the indexed fields: submissionId, amount, receiver, nonce, referralCode, feeParams, autoParams, nativeSender.
		to := chain.ID(log.Topics[2].Big().Uint64())
		if to == chain.Solana {
			return c.sentToSolana(receipt, submission)
		}
		autoParams, err := claimParams(values[6].([]byte), values[7].(common.Address))
		if err != nil {
			return message{}, fmt.Errorf("message in transaction %s: %w", tx, err)
		}
		return message{
			to:         to,
			debridgeID: log.Topics[1],
			from:       c.Facts.ID,
			receiver:   common.BytesToAddress(values[2].([]byte)),
			nonce:      values[3].(*big.Int),
			autoParams: autoParams,
		}, nil
	}
	return message{}, fmt.Errorf("transaction %s has no message %x", tx, submission)
}

// sentToSolana reads the orders that a message to Solana is about out of the transaction that sent it.
func (c *Chain) sentToSolana(receipt *types.Receipt, submission [32]byte) (message, error) {
	m := message{to: chain.Solana, from: c.Facts.ID}
	m.inbound = solana.Inbound{Submission: submission, From: uint64(c.Facts.ID)}
	for _, log := range receipt.Logs {
		if log.Address != c.dlnDestination() {
			continue
		}
		about, err := wordIn(*log)
		if err != nil {
			return message{}, err
		}
		if about.submission != submission {
			continue
		}
		m.inbound.Orders = append(m.inbound.Orders, about.order)
		m.inbound.Beneficiary, m.inbound.Cancel = solana.Key(about.beneficiary), about.isCancel
	}
	return m, nil
}

// claimParams turns the parameters of a sent message into those of its claim: the fallback address in
// the receiving chain's form, and the sender added.
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

// The tuples lie encoded inside bytes, so no contract's ABI describes them.
var (
	sentParams    = tuple("executionFee uint256", "flags uint256", "fallbackAddress bytes", "data bytes")
	claimedParams = tuple(
		"executionFee uint256", "flags uint256", "fallbackAddress address", "data bytes", "nativeSender bytes",
	)
)

// tuple is the encoding of one tuple with fields such as "flags uint256".
func tuple(fields ...string) abi.Arguments {
	var described []abi.ArgumentMarshaling
	for _, field := range fields {
		name, kind, _ := strings.Cut(field, " ")
		described = append(described, abi.ArgumentMarshaling{Name: name, Type: kind})
	}
	return abi.Arguments{{Type: abiType("tuple", described)}}
}

// arguments is the encoding of several values in a row.
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

// claimAll carries out, in one transaction, the messages about orders.
func (w *World) claimAll(ctx context.Context, at time.Time, orders ...Order) error {
	var messages []message
	for _, o := range orders {
		m, err := w.message(ctx, o)
		if err != nil {
			return err
		}
		messages = append(messages, m)
	}
	return w.claim(ctx, at, messages...)
}

// claim carries messages out on their receiving chain, all in one transaction. All must be for one chain.
func (w *World) claim(ctx context.Context, at time.Time, messages ...message) error {
	if messages[0].to == chain.Solana {
		return w.solana.claim(at, w.cast.keeper, messages...)
	}
	c, err := w.known(messages[0].to)
	if err != nil {
		return err
	}
	var calls []call
	for _, m := range messages {
		noSignatures := []byte{}
		calls = append(calls, call{w.cast.keeper, c.gate(), nil, contracts.DeBridgeGate.Pack(
			"claim", m.debridgeID, new(big.Int), new(big.Int).SetUint64(uint64(m.from)), m.receiver, m.nonce, noSignatures,
			m.autoParams)})
	}
	sent := calls[0]
	if len(calls) > 1 {
		sent = together(calls...)
	}
	if _, err := c.execute(ctx, at, sent); err != nil {
		return fmt.Errorf("claim: %w", err)
	}
	return nil
}
