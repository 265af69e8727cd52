package tron

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// methods are java-tron's methods for readers of a chain. It rejects others, such as eth_feeHistory,
// eth_sendRawTransaction or eth_getTransactionCount, as unknown.
var methods = map[string]any{
	"web3_clientVersion": constant("TRON/v4.8.1/Linux/Java1.8"),
	"net_version":        passed("eth_chainId"), // both return the last four bytes of the genesis block's hash
	"eth_chainId":        passed("eth_chainId"),
	"eth_blockNumber":    passed("eth_blockNumber"),
	"eth_gasPrice":       constant(hexutil.Uint64(EnergyPrice)),
	"eth_accounts":       constant([]string{}),

	"eth_getBlockByNumber":      (*server).blockAt,
	"eth_getBlockByHash":        (*server).blockByHash,
	"eth_getTransactionByHash":  (*server).transaction,
	"eth_getTransactionReceipt": (*server).receipt,
	"eth_getLogs":               (*server).logs,

	"eth_getBalance":   newest("eth_getBalance"),
	"eth_getCode":      newest("eth_getCode"),
	"eth_getStorageAt": (*server).storageAt,
	"eth_call":         (*server).ethCall,
	"eth_estimateGas": func(s *server, ctx context.Context, sent json.RawMessage) (any, error) {
		return s.run(ctx, "eth_estimateGas", sent)
	},
}

func constant(value any) func(*server, context.Context) (any, error) {
	return func(*server, context.Context) (any, error) { return value, nil }
}

func passed(name string) func(*server, context.Context) (any, error) {
	return func(s *server, ctx context.Context) (any, error) { return s.ask(ctx, name) }
}

// newest returns a method that reads an account's state at the newest block.
func newest(name string) func(*server, context.Context, address, newestBlock) (any, error) {
	return func(s *server, ctx context.Context, account address, _ newestBlock) (any, error) {
		return s.ask(ctx, name, account, "latest")
	}
}

func (s *server) storageAt(ctx context.Context, at address, key json.RawMessage, _ newestBlock) (any, error) {
	return s.ask(ctx, "eth_getStorageAt", at, key, "latest")
}

// ask returns the underlying node's answer.
func (s *server) ask(ctx context.Context, name string, args ...any) (any, error) {
	var result json.RawMessage
	err := s.node.CallContext(ctx, &result, name, args...)
	return result, err
}

// text returns a string parameter's value. Other parameters stay raw, which no parser of texts accepts.
func text(parameter json.RawMessage) string {
	var value string
	if json.Unmarshal(parameter, &value) != nil {
		return string(parameter)
	}
	return value
}

// flag is true if a parameter is true, as a boolean or as text.
type flag bool

// UnmarshalText accepts any text.
func (f *flag) UnmarshalText(word []byte) error {
	*f = string(word) == "true"
	return nil
}

// address is 20 bytes of hex, or 21 with TRON's version byte in front.
type address struct{ common.Address }

// UnmarshalText parses an address as java-tron does.
func (a *address) UnmarshalText(hex []byte) error {
	digits := strings.TrimPrefix(string(hex), "0x")
	if len(digits) == 2*(1+common.AddressLength) {
		digits = strings.TrimPrefix(digits, "41")
	}
	if !common.IsHexAddress(digits) {
		return invalidParams("invalid address hash value")
	}
	a.Address = common.HexToAddress(digits)
	return nil
}

// hash is 32 bytes of hex; the 0x is optional, as in TRON's own interfaces.
type hash struct{ common.Hash }

// UnmarshalText parses a hash as java-tron does.
func (h *hash) UnmarshalText(hex []byte) error {
	raw, err := hexutil.Decode("0x" + strings.TrimPrefix(string(hex), "0x"))
	if err != nil || len(raw) != common.HashLength {
		return invalidParams("invalid hash value")
	}
	h.Hash = common.Hash(raw)
	return nil
}

// height is a block's number or tag, for the underlying node.
type height string

// UnmarshalText parses numbers and the tags that java-tron knows.
func (h *height) UnmarshalText(block []byte) error {
	switch string(block) {
	case "latest", "earliest", "finalized":
		*h = height(block)
		return nil
	case "pending", "safe":
		return invalidParams("TAG " + string(block) + " not supported")
	}
	number, err := hexutil.DecodeUint64(string(block))
	if err != nil {
		return invalidParams("invalid block number")
	}
	*h = height(hexutil.EncodeUint64(number))
	return nil
}

// newestBlock is a block parameter that must be the newest: java-tron keeps no older state.
type newestBlock struct{}

// UnmarshalText rejects any other block than the newest.
func (*newestBlock) UnmarshalText(block []byte) error {
	switch string(block) {
	case "latest":
		return nil
	case "earliest", "pending", "finalized", "safe":
		return invalidParams("TAG [earliest | pending | finalized | safe] not supported")
	}
	if err := new(height).UnmarshalText(block); err != nil {
		return err
	}
	return invalidParams("QUANTITY not supported, just support TAG as latest")
}
