package contracts

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
)

// known returns the contracts whose errors can surface in a call of the protocol.
func known() []*Contract {
	return []*Contract{
		DlnSource, DlnDestination, DeBridgeGate, ExternalCallAdapter, DeBridgeRouter, MultiCaller,
		Token, WrappedCoin, Pool, PoolRouter, VenueRouter,
	}
}

// Explain returns the Solidity error behind a reverted call if err carries its data, else err.
func Explain(err error) error {
	var carrier rpc.DataError
	if !errors.As(err, &carrier) {
		return err
	}
	text, _ := carrier.ErrorData().(string)
	data, decodeErr := hexutil.Decode(text)
	if decodeErr != nil || len(data) < 4 {
		return err
	}
	if reason, unpackErr := abi.UnpackRevert(data); unpackErr == nil {
		return errors.New(reason)
	}
	for _, contract := range known() {
		described, lookupErr := contract.ABI.ErrorByID([4]byte(data[:4]))
		if lookupErr != nil {
			continue
		}
		arguments, unpackErr := described.Unpack(data)
		if unpackErr != nil {
			continue
		}
		return fmt.Errorf("%s%v", described.Name, arguments)
	}
	return err
}
