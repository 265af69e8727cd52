package tron

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// method is one that java-tron has. It takes exactly so many parameters.
type method struct {
	parameters int
	answer     func(s *server, ctx context.Context, params []json.RawMessage) (any, error)
}

// methods are those of java-tron that readers of a chain use. Others, such as eth_feeHistory,
// eth_sendRawTransaction or eth_getTransactionCount, it refuses as unknown.
var methods = map[string]method{
	"web3_clientVersion": {0, constant("TRON/v4.8.1/Linux/Java1.8")},
	"net_version":        {0, passed("eth_chainId")}, // both tell the last four bytes of the genesis block's hash
	"eth_chainId":        {0, passed("eth_chainId")},
	"eth_blockNumber":    {0, passed("eth_blockNumber")},
	"eth_gasPrice":       {0, constant(hexutil.Uint64(EnergyPrice))},
	"eth_accounts":       {0, constant([]string{})},

	"eth_getBlockByNumber":      {2, (*server).blockByNumber},
	"eth_getBlockByHash":        {2, (*server).blockByHash},
	"eth_getTransactionByHash":  {1, (*server).transaction},
	"eth_getTransactionReceipt": {1, (*server).receipt},
	"eth_getLogs":               {1, (*server).logs},

	"eth_getBalance":   {2, newest("eth_getBalance")},
	"eth_getCode":      {2, newest("eth_getCode")},
	"eth_getStorageAt": {3, newest("eth_getStorageAt")},
	"eth_call":         {2, (*server).call},
	"eth_estimateGas":  {1, (*server).estimate},
}

func constant(value any) func(*server, context.Context, []json.RawMessage) (any, error) {
	return func(*server, context.Context, []json.RawMessage) (any, error) { return value, nil }
}

func passed(name string) func(*server, context.Context, []json.RawMessage) (any, error) {
	return func(s *server, ctx context.Context, _ []json.RawMessage) (any, error) {
		var result json.RawMessage
		err := s.node.CallContext(ctx, &result, name)
		return result, err
	}
}

// newest reads state of an account, the first parameter, on the newest block; the last one must say so.
func newest(name string) func(*server, context.Context, []json.RawMessage) (any, error) {
	return func(s *server, ctx context.Context, params []json.RawMessage) (any, error) {
		last := len(params) - 1
		if err := wantsNewest(text(params[last])); err != nil {
			return nil, err
		}
		account, err := address(text(params[0]))
		if err != nil {
			return nil, err
		}
		arguments := []any{account}
		for _, each := range params[1:last] {
			arguments = append(arguments, each)
		}
		var result json.RawMessage
		err = s.node.CallContext(ctx, &result, name, append(arguments, "latest")...)
		return result, err
	}
}

// text is a parameter that should be one; anything else is no valid text for whoever reads it.
func text(parameter json.RawMessage) string {
	var value string
	if json.Unmarshal(parameter, &value) != nil {
		return string(parameter)
	}
	return value
}

// address reads 20 bytes of hex, or 21 with TRON's version byte in front.
func address(hex string) (common.Address, error) {
	digits := strings.TrimPrefix(hex, "0x")
	if len(digits) == 2*(1+common.AddressLength) {
		digits = strings.TrimPrefix(digits, "41")
	}
	if !common.IsHexAddress(digits) {
		return common.Address{}, invalidParams("invalid address hash value")
	}
	return common.HexToAddress(digits), nil
}

// hash reads 32 bytes of hex; the 0x may be missing, as in TRON's own interfaces.
func hash(hex string) (common.Hash, error) {
	raw, err := hexutil.Decode("0x" + strings.TrimPrefix(hex, "0x"))
	if err != nil || len(raw) != common.HashLength {
		return common.Hash{}, invalidParams("invalid hash value")
	}
	return common.Hash(raw), nil
}

// height reads a block's number or tag, for the node beneath.
func height(block string) (string, error) {
	switch block {
	case "latest", "earliest", "finalized":
		return block, nil
	case "pending", "safe":
		return "", invalidParams("TAG " + block + " not supported")
	}
	number, err := hexutil.DecodeUint64(block)
	if err != nil {
		return "", invalidParams("invalid block number")
	}
	return hexutil.EncodeUint64(number), nil
}

// wantsNewest refuses what is not the newest block: java-tron keeps no other state.
func wantsNewest(block string) error {
	switch block {
	case "latest":
		return nil
	case "earliest", "pending", "finalized", "safe":
		return invalidParams("TAG [earliest | pending | finalized | safe] not supported")
	}
	if _, err := height(block); err != nil {
		return err
	}
	return invalidParams("QUANTITY not supported, just support TAG as latest")
}
