package onchain_test

import (
	"fmt"
	"math/big"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/onchain"
)

// The tests encode events with go-ethereum's encoder, which shares no code with the reader under test.

var contracts = chain.Contracts{
	DlnSource:           address("dln source contract.."),
	DlnDestination:      address("dln destination ....."),
	Gate:                address("gate ................"),
	ExternalCallAdapter: address("adapter ............."),
	Router:              address("router .............."),
}

func address(text string) chain.Address { return chain.NewAddress([]byte(text)[:20]) }

func hash(text string) chain.Hash { return chain.Hash(crypto.Keccak256Hash([]byte(text))) }

// tuple holds the members of an order in the sequence of the contracts.
type tuple []any

func tupleOf(t order.Terms) tuple {
	number := func(id chain.ID) *big.Int { return new(big.Int).SetUint64(uint64(id)) }
	return tuple{
		t.Nonce, t.Maker.Bytes(), number(t.Give.Chain), t.Give.Token.Bytes(), t.Give.Amount.Big(),
		number(t.Take.Chain), t.Take.Token.Bytes(), t.Take.Amount.Big(), t.Receiver.Bytes(), t.Authorities.GivePatch.Bytes(),
		t.Authorities.Order.Bytes(), t.Authorities.AllowedTaker.Bytes(), t.Authorities.CancelBeneficiary.Bytes(), t.ExternalCall,
	}
}

// pack returns the tuple as a struct for the encoder, and the types of its members.
func (t tuple) pack() (value any, components []abi.ArgumentMarshaling) {
	kind := map[reflect.Type]string{reflect.TypeFor[uint64](): "uint64", reflect.TypeFor[*big.Int](): "uint256", reflect.TypeFor[[]byte](): "bytes"}
	fields := make([]reflect.StructField, len(t))
	for i, member := range t {
		name := fmt.Sprint("M", i)
		fields[i] = reflect.StructField{Name: name, Type: reflect.TypeOf(member)}
		components = append(components, abi.ArgumentMarshaling{Name: name, Type: kind[fields[i].Type]})
	}
	packed := reflect.New(reflect.StructOf(fields)).Elem()
	for i, member := range t {
		packed.Field(i).Set(reflect.ValueOf(member))
	}
	return packed.Interface(), components
}

// encode encodes values as ABI parameters of their types.
func encode(tb testing.TB, values ...any) []byte {
	tb.Helper()
	var arguments abi.Arguments
	for i, value := range values {
		name, components := "", []abi.ArgumentMarshaling(nil)
		switch v := value.(type) {
		case tuple:
			name = "tuple"
			values[i], components = v.pack()
		case chain.Hash:
			name, values[i] = "bytes32", [32]byte(v)
		case chain.Address:
			name, values[i] = "address", common.BytesToAddress(v.Bytes())
		case int:
			name, values[i] = "uint256", big.NewInt(int64(v))
		case bool:
			name = "bool"
		case []byte:
			name = "bytes"
		default:
			tb.Fatalf("encode %T", value)
		}
		arguments = append(arguments, abi.Argument{Type: must.Get(abi.NewType(name, "", components))(tb)})
	}
	return must.Get(arguments.Pack(values...))(tb)
}

// Published first topics of the events (deBridge's reference, verified on Ethereum).
const (
	createdOrder            = "0xfc8703fd57380f9dd234a89dce51333782d49c5902f307b02f03e014d18fe471"
	createdOrderLegacy      = "0x47ef43a379911343a1cc752617be7096d678feac64600f0f94e63062722735af"
	increasedGiveAmount     = "0x4f3bc5fae93ae03632b30b624fb1dbfa21466a29216f314d0cfcb269d7c918ff"
	claimedUnlock           = "0x33fff3d864e92b6e1ef9e830196fc019c946104ea621b833aaebd3c3e84b2f6f"
	claimedOrderCancel      = "0x7d7d1c5b3eadbe275ceb358e65cd57410b35997187258dbaaae42ab6e1405fd8"
	fulfilledOrder          = "0xc164aca37b9805a1c9027b6f32260a069723a82926f6e9ece4926e4dd3ea8ecf"
	fulfilledOrderLegacy    = "0xd281ee92bab1446041582480d2c0a9dc91f855386bb27ea295faac1e992f7fe4"
	decreasedTakeAmount     = "0x08c645e3c369cf85ec8e864f27821c61ceba80fa78f2f66fb0d042a4b29e794b"
	sentOrderUnlock         = "0x37a01d7dc38e924008cf4f2fa3d2ec1f45e7ae3c8292eb3e7d9314b7ad10e2fc"
	sentOrderCancel         = "0xc756fd0227d1d70cec0ead41b16a90a1cac618da1d612cb5d0b72d93301369de"
	externalCallRegistered  = "0xcb08fcc129e6e8f0ddd452cbd1380b0451cd7fe881d34a9c9618e66dde77ebb8"
	externallCallRegistered = "0x302c1fa26313337086ce999d06b9e355079ef09ed4c18919b069147273033353"
	externalCallExecuted    = "0xe0320f35b1ebe381c5ff7355f4c6ed81fe49413c4becf1e730b666d199908b69"
	externalCallFailed      = "0xfaebec5591353214b140dec3700150f47d7b1296e981c3498df1b37a6b953c23"
	externalCallCancelled   = "0x00dcd3c81b3e3b2f9c553348615a4f541f4d464c7f57a6fa096a27f4b1310ab2"
	gateClaimed             = "0xfee5cae6d86f128037e90fc8d24296e73ad402bd6f6f09098589d528c2e14ad2"
	swapExecuted            = "0xdde2f3711ab09cdddcfee16ca03e54d21fb8cf3fa647b9797913c950d38ad693"
)

func parseHash(tb testing.TB, text string) chain.Hash {
	tb.Helper()
	return must.Get(chain.ParseHash(text))(tb)
}

// newLog returns the log of an event without indexed parameters.
func newLog(tb testing.TB, emitter chain.Address, topic string, values ...any) onchain.Log {
	tb.Helper()
	return onchain.Log{
		Address: emitter,
		Topics:  []chain.Hash{parseHash(tb, topic)},
		Data:    encode(tb, values...),
	}
}

// newGateClaim is the gate's event that it executed a message by calling receiver.
func newGateClaim(tb testing.TB, submission chain.Hash, receiver chain.Address) onchain.Log {
	tb.Helper()
	log := newLog(tb, contracts.Gate, gateClaimed, submission, 0, 7, []byte{}, false)
	log.Topics = append(log.Topics, hash("debridge id"), chain.Hash(encode(tb, receiver)), chain.Hash{31: 1})
	return log
}
