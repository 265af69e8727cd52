package creation

import (
	"errors"
	"math/big"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/onchain"
)

// Why an order, or its external call, cannot be cancelled.
var (
	ErrFulfilled    = errors.New("the order is fulfilled")
	ErrCancelled    = errors.New("the order is cancelled")
	ErrUnknownCall  = errors.New("the external call is only known by its hash")
	ErrNoCall       = errors.New("the order has no external call")
	ErrCallExecuted = errors.New("the external call is executed")
	ErrCallNotOpen  = errors.New("the external call does not wait for its execution")
	ErrNotHere      = errors.New("external calls of this chain are not cancelled here")
)

// orderTuple is an order in calldata (dln-contracts, libraries/DlnOrderLib.sol).
const orderTuple = `{"name":"order","type":"tuple","components":[
	{"name":"makerOrderNonce","type":"uint64"},
	{"name":"makerSrc","type":"bytes"},
	{"name":"giveChainId","type":"uint256"},
	{"name":"giveTokenAddress","type":"bytes"},
	{"name":"giveAmount","type":"uint256"},
	{"name":"takeChainId","type":"uint256"},
	{"name":"takeTokenAddress","type":"bytes"},
	{"name":"takeAmount","type":"uint256"},
	{"name":"receiverDst","type":"bytes"},
	{"name":"givePatchAuthoritySrc","type":"bytes"},
	{"name":"orderAuthorityAddressDst","type":"bytes"},
	{"name":"allowedTakerDst","type":"bytes"},
	{"name":"allowedCancelBeneficiarySrc","type":"bytes"},
	{"name":"externalCall","type":"bytes"}]}`

// cancels are the functions of DlnDestination and of the external call's adapter by which an order's authority cancels.
var cancels = parseABI(`[
	{"type":"function","name":"sendEvmOrderCancel","stateMutability":"payable","inputs":[` + orderTuple + `,
		{"name":"cancelBeneficiary","type":"address"},{"name":"executionFee","type":"uint256"}]},
	{"type":"function","name":"sendSolanaOrderCancel","stateMutability":"payable","inputs":[` + orderTuple + `,
		{"name":"cancelBeneficiary","type":"bytes32"},{"name":"executionFee","type":"uint256"},
		{"name":"reward1","type":"uint64"},{"name":"reward2","type":"uint64"}]},
	{"type":"function","name":"cancelCall","inputs":[
		{"name":"orderId","type":"bytes32"},{"name":"callAuthority","type":"address"},{"name":"tokenAddress","type":"address"},
		{"name":"amount","type":"uint256"},{"name":"recipient","type":"address"},{"name":"externalCallHash","type":"bytes32"}]}]`)

// Beneficiary is who gets the refund of a cancelled order: the only one whom its terms allow, or who may patch it.
func Beneficiary(t order.Terms) chain.Address {
	if b := t.Authorities.CancelBeneficiary; !b.IsAbsent() {
		return b
	}
	return t.Authorities.GivePatch
}

// CancelData is the calldata for the take chain's DlnDestination by which the order's authority cancels it. It has the
// full external call: without that, the contract would cancel another order. Nothing is paid for carrying the message
// out.
func CancelData(t order.Terms) ([]byte, error) {
	if t.HasExternalCall() && len(t.ExternalCall) == 0 {
		return nil, ErrUnknownCall
	}
	tuple := struct {
		MakerOrderNonce             uint64
		MakerSrc                    []byte
		GiveChainId                 *big.Int
		GiveTokenAddress            []byte
		GiveAmount                  *big.Int
		TakeChainId                 *big.Int
		TakeTokenAddress            []byte
		TakeAmount                  *big.Int
		ReceiverDst                 []byte
		GivePatchAuthoritySrc       []byte
		OrderAuthorityAddressDst    []byte
		AllowedTakerDst             []byte
		AllowedCancelBeneficiarySrc []byte
		ExternalCall                []byte
	}{
		t.Nonce, t.Maker.Bytes(), new(big.Int).SetUint64(uint64(t.Give.Chain)), t.Give.Token.Bytes(), t.Give.Amount.Big(),
		new(big.Int).SetUint64(uint64(t.Take.Chain)), t.Take.Token.Bytes(), t.Take.Amount.Big(), t.Receiver.Bytes(),
		t.Authorities.GivePatch.Bytes(), t.Authorities.Order.Bytes(), t.Authorities.AllowedTaker.Bytes(),
		t.Authorities.CancelBeneficiary.Bytes(), t.ExternalCall,
	}
	nothing := new(big.Int)
	if beneficiary := Beneficiary(t); beneficiary.Len() == words.Size {
		return cancels.Pack("sendSolanaOrderCancel", tuple, [32]byte(beneficiary.Bytes()), nothing, uint64(0), uint64(0))
	}
	return cancels.Pack("sendEvmOrderCancel", tuple, nodeAddress(Beneficiary(t)), nothing)
}

// RegisteredCall is an external call that waits for its execution with an amount of the take token.
type RegisteredCall struct {
	Order  order.ID
	Terms  order.Terms
	Amount chain.Amount
}

// hash is that of the external call, by which the adapter knows it.
func (c RegisteredCall) hash() chain.Hash {
	if len(c.Terms.ExternalCall) == 0 {
		return c.Terms.ExternalCallHash
	}
	return onchain.CallHash(c.Terms.ExternalCall)
}

// Status asks the adapter for the call (0 not set, 1 registered, 2 executed, 3 cancelled).
func (c RegisteredCall) Status() []byte {
	return onchain.CallStatusCall(onchain.CallID(c.Order, c.Terms.Authorities.Order, c.Terms.Take.Token, c.Amount, c.hash()))
}

// CancelData is the calldata for the adapter by which the order's authority takes the amount instead.
func (c RegisteredCall) CancelData() ([]byte, error) {
	authority := nodeAddress(c.Terms.Authorities.Order)
	return cancels.Pack("cancelCall", [32]byte(c.Order), authority, nodeAddress(c.Terms.Take.Token), c.Amount.Big(), authority, [32]byte(c.hash()))
}
