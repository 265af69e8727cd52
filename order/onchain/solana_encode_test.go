package onchain_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/onchain"
)

// The tests write instructions and logs themselves, with discriminators of the published IDL as literals.

var solanaContracts = func() chain.Contracts {
	solana, _ := chain.Documented().Chain(chain.Solana)
	return solana.Contracts
}()

func key(b byte) chain.Address {
	raw := make([]byte, 32)
	for i := range raw {
		raw[i] = b
	}
	return chain.NewAddress(raw)
}

func keys(from byte, count int) []chain.Address {
	list := make([]chain.Address, count)
	for i := range list {
		list[i] = key(from + byte(i))
	}
	return list
}

// borshWriter writes the format that the decoder reads.
type borshWriter []byte

// tagged starts data with a discriminator in hex.
func tagged(tb testing.TB, discriminator string) borshWriter {
	tb.Helper()
	raw, err := hex.DecodeString(discriminator)
	if err != nil || len(raw) != 8 {
		tb.Fatalf("discriminator %s: %v", discriminator, err)
	}
	return raw
}

func (b borshWriter) raw(raw []byte) borshWriter { return append(b, raw...) }
func (b borshWriter) u32(n uint32) borshWriter   { return binary.LittleEndian.AppendUint32(b, n) }
func (b borshWriter) u64(n uint64) borshWriter   { return binary.LittleEndian.AppendUint64(b, n) }
func (b borshWriter) none() borshWriter          { return append(b, 0) }
func (b borshWriter) some() borshWriter          { return append(b, 1) }

func (b borshWriter) bytes(content []byte) borshWriter {
	return b.u32(uint32(len(content))).raw(content)
}

func (b borshWriter) amount(a chain.Amount) borshWriter {
	word := a.Bytes32()
	return b.raw(word[:])
}

func (b borshWriter) offer(o order.Offer) borshWriter {
	return b.amount(chain.NewAmount(uint64(o.Chain))).bytes(o.Token.Bytes()).amount(o.Amount)
}

func (b borshWriter) optionalBytes(a chain.Address) borshWriter {
	if a.IsAbsent() {
		return b.none()
	}
	return b.some().bytes(a.Bytes())
}

func (b borshWriter) terms(t order.Terms) borshWriter {
	b = b.u64(t.Nonce).bytes(t.Maker.Bytes()).offer(t.Give).offer(t.Take).bytes(t.Receiver.Bytes())
	b = b.bytes(t.Authorities.GivePatch.Bytes()).bytes(t.Authorities.Order.Bytes())
	b = b.optionalBytes(t.Authorities.AllowedTaker).optionalBytes(t.Authorities.CancelBeneficiary)
	switch {
	case len(t.ExternalCall) > 0:
		return b.some().raw(crypto.Keccak256(t.ExternalCall))
	case !t.ExternalCallHash.IsAbsent():
		return b.some().raw(t.ExternalCallHash[:])
	}
	return b.none()
}

// creation writes the arguments of both creating instructions.
func (b borshWriter) creation(t order.Terms, affiliate *order.Affiliate, referral *uint32) borshWriter {
	give, _ := t.Give.Amount.Uint64()
	b = b.u64(give).offer(t.Take).bytes(t.Receiver.Bytes())
	if len(t.ExternalCall) > 0 {
		b = b.some().bytes(t.ExternalCall)
	} else {
		b = b.none()
	}
	b = b.raw(key(0xa1).Bytes()).none().bytes(t.Authorities.Order.Bytes()).optionalBytes(t.Authorities.AllowedTaker)
	if affiliate == nil {
		b = b.none()
	} else {
		amount, _ := affiliate.Amount.Uint64()
		b = b.some().raw(affiliate.Beneficiary.Bytes()).u64(amount)
	}
	if referral == nil {
		return b.none()
	}
	return b.some().u32(*referral)
}

// call is an instruction, its program's events, and the calls that it makes before them.
type call struct {
	program  chain.Address
	accounts []chain.Address
	data     []byte
	calls    []call
	events   [][]byte
}

// run returns the transaction of outer instructions, with the logs that the runtime would write.
func run(outer ...call) solana.Transaction {
	var tx solana.Transaction
	for _, each := range outer {
		each.appendTo(&tx, 1)
	}
	return tx
}

func (c call) appendTo(tx *solana.Transaction, depth int) {
	tx.Instructions = append(tx.Instructions, solana.Instruction{
		Program: c.program, Accounts: c.accounts, Data: c.data, Depth: depth,
	})
	program := c.program.Format(chain.SVM)
	tx.Logs = append(tx.Logs, fmt.Sprintf("Program %s invoke [%d]", program, depth), "Program log: Instruction: Something")
	for _, each := range c.calls {
		each.appendTo(tx, depth+1)
	}
	for _, event := range c.events {
		tx.Logs = append(tx.Logs, "Program data: "+base64.StdEncoding.EncodeToString(event))
	}
	tx.Logs = append(tx.Logs, fmt.Sprintf("Program %s consumed 1 of 2 compute units", program), fmt.Sprintf("Program %s success", program))
}

// of returns a lookup of one order by its accounts.
func of(id order.ID) onchain.OrderOf {
	taken, called := onchain.TakeOrderAccount(solanaContracts, id), onchain.CallAccount(solanaContracts, id)
	return func(account chain.Address) (order.ID, bool) { return id, account == taken || account == called }
}

func nobody(chain.Address) (id order.ID, known bool) { return id, false }
