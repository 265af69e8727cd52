package wire

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/token"
)

var documented = Encoder{Chains: chain.Documented()}

const (
	base    chain.ID = 8453
	polygon chain.ID = 137
)

var usdc = token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC", LogoURI: "https://logos.example/usdc.png"}

// account returns a recognisable address of 20 bytes.
func account(b byte) chain.Address { return chain.NewAddress(bytes.Repeat([]byte{b}, 20)) }

// key returns a recognisable address of 32 bytes, as on Solana.
func key(b byte) chain.Address { return chain.NewAddress(bytes.Repeat([]byte{b}, 32)) }

func hash(b byte) chain.Hash { return chain.Hash(bytes.Repeat([]byte{b}, 32)) }

func evmTx(b byte) chain.TxHash { return chain.NewTxHash(bytes.Repeat([]byte{b}, 32)) }

func solanaTx(b byte) chain.TxHash { return chain.NewTxHash(bytes.Repeat([]byte{b}, 64)) }

func amount(t testing.TB, digits string) chain.Amount {
	t.Helper()
	return must.Get(chain.ParseAmount(digits))(t)
}

func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	return must.Get(hex.DecodeString(digits))(t)
}

// metadataV1 returns order metadata of 67 bytes: source amount set, expenses 706052, recommended take 17279551.
func metadataV1(t testing.TB) []byte {
	return unhex(t, "0101000000"+"04c60a"+strings.Repeat("0", 34)+"3faa0701"+strings.Repeat("0", 32)+strings.Repeat("0", 40)+"0000")
}

func on(id chain.ID, tx chain.TxHash, block, time uint64) order.At {
	return order.At{Chain: id, Tx: tx, Block: block, BlockHash: hash(byte(block)), Time: time, Initiator: account(0x77)}
}

// plainOrder returns a new order from Base to Polygon, with as little as an order can have.
func plainOrder(t testing.TB) order.Event {
	return order.Event{Order: hash(0x0d), At: on(base, evmTx(0xc1), 49_079_683, 1_784_948_713), Fact: order.Created{
		Terms: order.Terms{
			Nonce: 1_784_948_708_910,
			Maker: account(0xa1),
			Give:  order.Offer{Chain: base, Token: account(0x83), Amount: amount(t, "17992800")},
			Take:  order.Offer{Chain: polygon, Token: chain.NativeCoin(chain.EVM), Amount: amount(t, "20007232907790001234567890")},

			Receiver:    account(0xb1),
			Authorities: order.Authorities{GivePatch: account(0xa1), Order: account(0xb1)},
		},
		FixFee:     amount(t, "1000000000000000"),
		PercentFee: amount(t, "7200"),
	}}
}

// fold returns the order of these events only.
func fold(t testing.TB, events ...order.Event) *order.Order {
	t.Helper()
	o, ok := order.Fold(events)
	if !ok {
		t.Fatal("the events carry no terms")
	}
	return o
}
