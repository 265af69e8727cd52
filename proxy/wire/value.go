package wire

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/token"
)

func (w *writer) base64(raw []byte) {
	json := append(w.json, '"')
	json = base64.StdEncoding.AppendEncode(json, raw)
	w.json = append(json, '"')
}

// byteList writes raw as a list of numbers in a string: "[0,0,33,5]". Clients parse it as JSON again.
func (w *writer) byteList(raw []byte) {
	w.json = append(w.json, '"', '[')
	for i, b := range raw {
		if i > 0 {
			w.json = append(w.json, ',')
		}
		w.json = strconv.AppendUint(w.json, uint64(b), 10)
	}
	w.json = append(w.json, ']', '"')
}

// hex writes raw as lower-case 0x hex.
func (w *writer) hex(raw []byte) {
	json := append(w.json, `"0x`...)
	json = hex.AppendEncode(json, raw)
	w.json = append(json, '"')
}

func (w *writer) decimal(a chain.Amount) {
	json := append(w.json, '"')
	json = a.AppendDecimal(json)
	w.json = append(json, '"')
}

// bigNumber writes a BigNumberValue: 32 bytes, big-endian. bigIntegerValue has as many digits as needed.
func (w *writer) bigNumber(a chain.Amount) {
	raw := a.Bytes32()
	w.open('{')
	w.name("bytesValue").base64(raw[:])
	w.name("bytesArrayValue").byteList(raw[:])
	w.name("bigIntegerValue")
	w.json = a.AppendDecimal(w.json)
	w.name("stringValue").decimal(a)
	w.close('}')
}

func (w *writer) chainID(id chain.ID) { w.bigNumber(chain.NewAmount(uint64(id))) }

// hash writes a HashValue: order and submission ids are hex on every chain.
func (w *writer) hash(h chain.Hash) { w.hashOf(h, chain.EVM) }

// hashOf writes a HashValue in the form of family, three nulls if absent.
func (w *writer) hashOf(h chain.Hash, family chain.Family) {
	if h.IsAbsent() {
		w.json = append(w.json, `{"bytesValue":null,"bytesArrayValue":null,"stringValue":null}`...)
		return
	}
	w.encodings("bytesValue", h[:], h.Format(family))
}

// encodings writes bytes in three forms. The member of those in base64 differs between values.
func (w *writer) encodings(inBase64 string, raw []byte, text string) {
	w.open('{')
	w.name(inBase64).base64(raw)
	w.name("bytesArrayValue").byteList(raw)
	w.name("stringValue").plain(text)
	w.close('}')
}

// address writes an AddressValue in the form of family; if absent, an empty string between nulls.
func (w *writer) address(a chain.Address, family chain.Family) {
	if a.IsAbsent() {
		w.json = append(w.json, `{"Base64Value":null,"bytesArrayValue":"","stringValue":null}`...)
		return
	}
	w.encodings("Base64Value", a.Bytes(), a.Format(family))
}

func (w *writer) addressOrNull(a chain.Address, family chain.Family) {
	w.unless(a.IsAbsent(), func() { w.address(a, family) })
}

// txHash writes a TransactionHashValue, in which stringValue comes first.
func (w *writer) txHash(h chain.TxHash, family chain.Family) {
	raw := h.Bytes()
	w.open('{')
	w.name("stringValue").plain(h.Format(family))
	w.name("bytesValue").base64(raw)
	w.name("bytesArrayValue").byteList(raw)
	w.close('}')
}

func (w *writer) tokenMetadata(t token.Token) {
	w.open('{')
	w.tokenMembers(t)
	w.close('}')
}

func (w *writer) tokenMembers(t token.Token) {
	isUnread := t == (token.Token{})
	w.name("decimals").unless(isUnread, func() { w.uint(uint64(t.Decimals)) })
	w.name("name").text(t.Name)
	w.name("symbol").text(t.Symbol)
	w.name("logoURI").text(t.LogoURI)
}

// eventMetadata writes an EventMetadata, null if the event has not been seen.
func (w *writer) eventMetadata(at *order.At) {
	orNull(w, at, func(at order.At) {
		family := w.chains.Family(at.Chain)
		w.object(func() {
			w.name("transactionHash").txHash(at.Tx, family)
			w.name("blockNumber").uint(at.Block)
			w.name("blockHash").hashOf(at.BlockHash, family)
			w.name("blockTimeStamp").uint(at.Time)
			w.name("initiator").addressOrNull(at.Initiator, family)
		})
	})
}

// eventInfo writes an EventInfo: always an object, of nulls if the event has not been seen.
func (w *writer) eventInfo(at *order.At, submission chain.Hash) {
	w.open('{')
	w.name("transactionMetadata").eventMetadata(at)
	w.name("submissionId").hash(submission)
	w.close('}')
}
