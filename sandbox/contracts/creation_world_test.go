package contracts

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"crossgate/internal/must"
)

// orderRecording is a recording of the real order contracts.
type orderRecording struct {
	Accounts map[common.Address]string
	Chains   []orderChain
	Cases    []orderCase
}

type orderChain struct {
	DeBridgeID, EVMChainID uint64
	Contracts              map[string]common.Address
	GlobalFixedNativeFee   string
	GlobalTransferFeeBps   uint64

	GateGlobalFixedNativeFee          string
	MaxOrderCountPerBatchEvmUnlock    uint64
	MaxOrderCountPerBatchSolanaUnlock uint64
	Tokens                            []struct {
		Address      common.Address
		Decimals     uint64
		Behaviour    string
		PermitDomain *struct{ Name, Version string }
	}
	Peers []struct {
		ID, Engine                uint64
		DlnSource, DlnDestination hexutil.Bytes
	}
}

type orderCase struct {
	ID, Kind, After string
	Chain           uint64
	Prepare         []struct {
		Chain uint64
		What  string
		orderTx
	}
	Block  struct{ Timestamp uint64 }
	Tx     orderTx
	Call   orderCall
	Result struct {
		Status string
		Revert *struct {
			Data hexutil.Bytes
			Name string
		}
		InnerReverts []struct {
			Contract string
			Revert   struct{ Name, Reason string }
		}
		Logs []struct {
			Contract, Event string
			Topics          []common.Hash
			Data            hexutil.Bytes
		}
		BalanceChanges []struct {
			Account            common.Address
			Token, Delta, Name string
		}
		StateAfter struct {
			Orders []struct {
				OrderID    common.Hash
				GiveOrders *struct {
					Status                                                             uint64
					GiveTokenAddress, AffiliateBeneficiary                             common.Address
					NativeFixFee, TakeChainID, PercentFee, GiveAmount, AffiliateAmount string
				}
				GivePatches string
				TakeOrders  *struct {
					Status       uint64
					TakerAddress common.Address
				}
				TakePatches string
			}
			MasterNonce string
		}
	}
}

type orderTx struct {
	From, To common.Address
	Value    string
	Data     hexutil.Bytes
}

type orderCall struct {
	Contract, Function string
	Args               json.RawMessage
}

// worldState is the state of every chain, by the protocol's chain ID.
type worldState map[uint64]*state.StateDB

func (w worldState) copied() worldState {
	copied := worldState{}
	for id, db := range w {
		copied[id] = db.Copy()
	}
	return copied
}

// baseWorld returns the state in which every case begins: that of the recording, with the sandbox's contracts.
func baseWorld(t *testing.T, r *orderRecording) worldState {
	t.Helper()
	w := worldState{}
	for _, c := range r.Chains {
		db := must.Get(state.New(types.EmptyRootHash, state.NewDatabaseForTesting()))(t)
		placeOrders(t, db, c, adminOf(r))
		for account := range r.Accounts {
			db.SetBalance(account, uint256.MustFromDecimal("1000000000000000000000000"), tracing.BalanceChangeUnspecified)
		}
		plenty := uint256.MustFromDecimal("1000000000000000000000000000000000")
		db.SetBalance(c.Contracts["venue"], plenty, tracing.BalanceChangeUnspecified)
		for _, token := range c.Tokens {
			s := tokenFor(token.Behaviour).NewState()
			if token.PermitDomain != nil && s.Contract() != IdleToken {
				s.Set("name", token.PermitDomain.Name)
				if s.Contract() == Token || s.Contract() == DenyingToken {
					s.Set("version", token.PermitDomain.Version)
				}
			}
			for account := range r.Accounts {
				s.Set("balanceOf", purseOf(token.Decimals), account)
				if strings.HasPrefix(r.Accounts[account], "taker") {
					s.Set("allowance", new(big.Int).Lsh(big.NewInt(1), 255), account, c.Contracts["dlnDestination"])
				}
			}
			s.Set("balanceOf", purseOf(token.Decimals), c.Contracts["wallet"])
			s.Set("balanceOf", plenty.ToBig(), c.Contracts["venue"])
			if s.Contract() == TaxedToken {
				s.Set("totalSupply", plenty.ToBig())
			}
			lay(db, token.Address, s)
		}
		w[c.DeBridgeID] = db
	}
	return w
}

func adminOf(r *orderRecording) common.Address {
	for account, name := range r.Accounts {
		if name == "protocol-admin" {
			return account
		}
	}
	return common.Address{}
}

// purseOf returns every account's balance of a token.
func purseOf(decimals uint64) *big.Int {
	exponent := int64(21)
	if decimals > 8 {
		exponent = 27
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(exponent), nil)
}

func tokenFor(behaviour string) *Contract {
	for beginning, contract := range map[string]*Contract{
		"burns": TaxedToken, "returns nothing": SilentToken, "transfer()": DenyingToken, "transferFrom()": IdleToken,
	} {
		if strings.HasPrefix(behaviour, beginning) {
			return contract
		}
	}
	return Token
}

// placeOrders places the protocol's contracts of a chain, and the contracts around them.
func placeOrders(t *testing.T, db *state.StateDB, c orderChain, admin common.Address) {
	t.Helper()
	subscription := uint64(0)
	if c.DeBridgeID != c.EVMChainID {
		subscription = c.DeBridgeID
	}
	at := c.Contracts
	source := DlnSource.NewState().Set("owner", admin).Set("deBridgeGate", at["gate"]).Set("subscriptionId", subscription).
		Set("globalFixedNativeFee", bigOf(t, c.GlobalFixedNativeFee)).Set("globalTransferFeeBps", c.GlobalTransferFeeBps)
	destination := DlnDestination.NewState().Set("owner", admin).Set("deBridgeGate", at["gate"]).Set("subscriptionId", subscription).
		Set("externalCallAdapter", at["adapter"]).Set("legacyEvents", true). // version 1.4.0
		Set("maxOrderCountPerBatchEvmUnlock", c.MaxOrderCountPerBatchEvmUnlock).
		Set("maxOrderCountPerBatchSolanaUnlock", c.MaxOrderCountPerBatchSolanaUnlock)
	for _, peer := range c.Peers {
		source.Set("dlnDestinationAddresses", []byte(peer.DlnDestination), peer.ID).Set("chainEngines", peer.Engine, peer.ID)
		destination.Set("dlnSourceAddresses", []byte(peer.DlnSource), peer.ID).Set("chainEngines", peer.Engine, peer.ID)
	}
	lay(db, at["dlnSource"], source)
	lay(db, at["dlnDestination"], destination)
	lay(db, at["gate"], DeBridgeGate.NewState().Set("subscriptionId", subscription).
		Set("globalFixedNativeFee", bigOf(t, c.GateGlobalFixedNativeFee)))
	lay(db, at["adapter"], ExternalCallAdapter.NewState().Set("dlnDestination", at["dlnDestination"]).Set("legacyEvents", true))
	lay(db, at["router"], DeBridgeRouter.NewState().Set("owner", admin).Set("dlnDestination", at["dlnDestination"]).
		Set("supportedRouters", true, at["dlnSource"]).Set("supportedRouters", true, at["venue"]))
	lay(db, at["venue"], StandInVenue.NewState())
	lay(db, at["wallet"], CallingWallet.NewState())
	lay(db, at["target"], StandInTarget.NewState())
	db.SetCode(at["refuser"], common.FromHex("0x60006000fd"), tracing.CodeChangeUnspecified) // PUSH1 0 PUSH1 0 REVERT
}

func lay(db *state.StateDB, at common.Address, s *State) {
	db.SetCode(at, s.contract.Runtime, tracing.CodeChangeUnspecified)
	for slot, value := range s.Slots() {
		db.SetState(at, slot, value)
	}
}

// wordAt returns a word of calldata after the selector.
func wordAt(data []byte, i int) common.Hash { return common.BytesToHash(data[4+32*i : 4+32*(i+1)]) }

// arrange applies a transaction that only configured the recording's own stand-ins; false if it did something else.
func arrange(db *state.StateDB, tx orderTx) bool {
	if len(tx.Data) < 4 {
		return false
	}
	set := func(c *Contract, name string, value any, keys ...any) {
		for slot, word := range c.NewState().Set(name, value, keys...).Slots() {
			db.SetState(tx.To, slot, word)
		}
	}
	switch [4]byte(tx.Data) {
	case [4]byte{0x1d, 0x79, 0xf3, 0x25}: // an account's permit nonce
		set(Token, "nonces", wordAt(tx.Data, 1), common.BytesToAddress(wordAt(tx.Data, 0).Bytes()))
	case [4]byte{0x08, 0xb0, 0xa1, 0x5b}: // a token at any address
		lay(db, tx.To, Token.NewState().Set("name", "Input"))
	case [4]byte{0xd2, 0x4c, 0xaa, 0x2e}: // what a venue's stand-in takes and pays
		lay(db, tx.To, StandInVenue.NewState().
			Set("tokenIn", common.BytesToAddress(wordAt(tx.Data, 0).Bytes())).Set("amountIn", wordAt(tx.Data, 1)).
			Set("tokenOut", common.BytesToAddress(wordAt(tx.Data, 2).Bytes())).Set("amountOut", wordAt(tx.Data, 3)))
		db.SetBalance(tx.To, uint256.MustFromDecimal("1000000000000000000000000000000000"), tracing.BalanceChangeUnspecified)
	default:
		return false
	}
	return true
}
