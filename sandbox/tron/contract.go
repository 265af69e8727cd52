package tron

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"

	"crossgate/sandbox/jsonrpc"
)

// callArguments are the call arguments that java-tron uses.
type callArguments struct {
	From, To           string
	Value, Data, Input json.RawMessage
}

// ethCall runs a contract on the newest block. The parameter may be an object that identifies another block, which only
// has to exist: the newest state is used anyway.
func (s *server) ethCall(ctx context.Context, sent, block json.RawMessage) (any, error) {
	if err := s.checkBlock(ctx, block); err != nil {
		return nil, err
	}
	return s.run(ctx, "eth_call", sent)
}

func (s *server) checkBlock(ctx context.Context, parameter json.RawMessage) error {
	if json.Unmarshal(parameter, new(string)) == nil {
		return new(newestBlock).UnmarshalText([]byte(text(parameter)))
	}
	var named struct {
		BlockNumber *height
		BlockHash   *hash
	}
	err := json.Unmarshal(parameter, &named)
	var found object
	switch mistake := (*jsonrpc.Error)(nil); {
	case errors.As(err, &mistake):
		return mistake
	case err != nil || named.BlockNumber == nil && named.BlockHash == nil:
		return errNoRequest
	case named.BlockNumber != nil:
		found, err = s.blockAt(ctx, *named.BlockNumber, false)
	default:
		found, err = s.blockByHash(ctx, *named.BlockHash, false)
	}
	if err == nil && found == nil {
		return refusal(internalError, "header not found")
	}
	return err
}

// run lets the underlying node call a contract or estimate the energy of a call.
func (s *server) run(ctx context.Context, method string, parameter json.RawMessage) (any, error) {
	var sent callArguments
	if json.Unmarshal(parameter, &sent) != nil {
		return nil, errNoRequest
	}
	var from, to address
	if err := to.UnmarshalText([]byte(sent.To)); err != nil {
		return nil, err
	}
	message := map[string]any{"to": to, "input": sent.Data}
	if sent.Input != nil {
		message["input"] = sent.Input
	}
	if sent.Value != nil {
		message["value"] = sent.Value
	}
	if sent.From != "" {
		if err := from.UnmarshalText([]byte(sent.From)); err != nil {
			return nil, err
		}
		message["from"] = from
	}
	var code hexutil.Bytes
	if err := s.node.CallContext(ctx, &code, "eth_getCode", to, "latest"); err != nil {
		return nil, err
	}
	if len(code) == 0 {
		return nil, refusal(jsonrpc.InvalidRequest, "Smart contract is not exist.")
	}
	args := []any{message}
	if method == "eth_call" {
		args = append(args, "latest")
	}
	result, err := s.ask(ctx, method, args...)
	return result, reverted(err)
}

// reverted converts a contract's revert to java-tron's error.
func reverted(err error) error {
	var carrier rpc.DataError
	if !errors.As(err, &carrier) {
		return err
	}
	refused := refusal(internalError, "REVERT opcode executed")
	data, _ := carrier.ErrorData().(string)
	if data != "" {
		refused.Data = data
	}
	if reason, err := abi.UnpackRevert(common.FromHex(data)); err == nil {
		refused.Message += ": " + reason
	}
	return refused
}
