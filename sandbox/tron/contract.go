package tron

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
)

// callArguments are those that java-tron heeds.
type callArguments struct {
	From  string          `json:"from"`
	To    string          `json:"to"`
	Value json.RawMessage `json:"value"`
	Data  json.RawMessage `json:"data"`
	Input json.RawMessage `json:"input"`
}

// call runs a contract on the newest block. The block can also be named in an object, but must then only
// exist: the state is the newest all the same.
func (s *server) call(ctx context.Context, params []json.RawMessage) (any, error) {
	if err := s.checkBlock(ctx, params[1]); err != nil {
		return nil, err
	}
	return s.run(ctx, "eth_call", params[0])
}

func (s *server) estimate(ctx context.Context, params []json.RawMessage) (any, error) {
	return s.run(ctx, "eth_estimateGas", params[0])
}

func (s *server) checkBlock(ctx context.Context, parameter json.RawMessage) error {
	var named struct{ BlockNumber, BlockHash json.RawMessage }
	switch {
	case json.Unmarshal(parameter, new(string)) == nil:
		return wantsNewest(text(parameter))
	case json.Unmarshal(parameter, &named) != nil:
		return &fault{Code: invalidRequest, Message: "invalid json request"}
	}
	find, block := s.blockByNumber, named.BlockNumber
	if block == nil {
		find, block = s.blockByHash, named.BlockHash
	}
	if block == nil {
		return &fault{Code: invalidRequest, Message: "invalid json request"}
	}
	found, err := find(ctx, []json.RawMessage{block, json.RawMessage("false")})
	if err == nil && found == nil {
		return &fault{Code: internalError, Message: "header not found"}
	}
	return err
}

// run has the node beneath call a contract, or estimate the energy of that.
func (s *server) run(ctx context.Context, method string, parameter json.RawMessage) (any, error) {
	var sent callArguments
	if err := json.Unmarshal(parameter, &sent); err != nil {
		return nil, &fault{Code: invalidRequest, Message: "invalid json request"}
	}
	to, err := address(sent.To)
	if err != nil {
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
		if message["from"], err = address(sent.From); err != nil {
			return nil, err
		}
	}
	var code hexutil.Bytes
	if err := s.node.CallContext(ctx, &code, "eth_getCode", to, "latest"); err != nil {
		return nil, err
	}
	if len(code) == 0 {
		return nil, &fault{Code: invalidRequest, Message: "Smart contract is not exist."}
	}
	var result json.RawMessage
	arguments := []any{message}
	if method == "eth_call" {
		arguments = append(arguments, "latest")
	}
	return result, refusal(s.node.CallContext(ctx, &result, method, arguments...))
}

// refusal is what a contract refused with, as java-tron words it.
func refusal(err error) error {
	var carrier rpc.DataError
	if !errors.As(err, &carrier) {
		return err
	}
	said := &fault{Code: internalError, Message: "REVERT opcode executed"}
	said.Data, _ = carrier.ErrorData().(string)
	if reason, err := abi.UnpackRevert(common.FromHex(said.Data)); err == nil {
		said.Message += ": " + reason
	}
	return said
}
