package creation_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/recorded"
)

// hexBytes is a byte string that JSON represents as 0x hex.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(strings.TrimPrefix(string(text), "0x"))
	*b = raw
	return err
}

// vectors are transactions that were executed on the protocol's real contracts.
type vectors struct {
	Accounts map[chain.Address]string
	Chains   []vectorChain
	Cases    []vector
}

type vectorChain struct {
	DeBridgeID           chain.ID
	EVMChainID           uint64
	Contracts            map[string]chain.Address
	VenueNotListed       chain.Address
	GlobalFixedNativeFee chain.Amount
	GlobalTransferFeeBps uint64
	Tokens               []vectorToken
	Peers                []struct {
		ID             chain.ID
		DlnDestination chain.Address
	}
}

type vectorToken struct {
	Address      chain.Address
	Behaviour    string
	Decimals     int
	PermitDomain *struct{ Name, Version string }
}

type vector struct {
	ID, Kind, Note, After string
	Chain                 chain.ID
	Prepare               []vectorStep
	Block                 struct{ Timestamp uint64 }
	Tx                    vectorTx
	Call                  vectorCall
	Result                struct {
		Status  string
		Revert  *vectorRevert
		Created []vectorCreated
	}
	Permit *struct {
		Message struct{ Value, Deadline chain.Amount }
	}
}

// vectorStep is a transaction that precedes the case.
type vectorStep struct {
	Chain chain.ID
	What  string
	vectorTx
}

type vectorTx struct {
	From, To chain.Address
	Value    chain.Amount
	Data     hexBytes
}

type vectorCall struct {
	Contract, Function string
	Args               map[string]json.RawMessage
	Venue              *vectorCall
	Calls              []vectorCall
}

type vectorRevert struct {
	Data hexBytes
	Name string
}

type vectorCreated struct {
	OrderID                                   chain.Hash
	Packed                                    hexBytes
	NativeFixFee, GiveAmountGross, PercentFee chain.Amount
	GiveAmountNet                             chain.Amount
	AffiliateFee                              *struct {
		Beneficiary chain.Address
		Amount      chain.Amount
	}
}

// readVectors reads the creations of a file.
func readVectors(t *testing.T, file string) vectors {
	t.Helper()
	var v vectors
	recorded.JSON(t, "golden/create/"+file, &v)
	return v
}

// files hold the creations: direct ones, and those through the router.
var files = []string{"create-vectors-A.json", "router-create-vectors-A.json"}
