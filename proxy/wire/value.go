package wire

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/token"
)

// byteText is a byte in decimal with the comma that follows it in a list: at most four characters.
type byteText struct {
	text   [4]byte
	length int
}

var byteTexts = func() (texts [256]byteText) {
	for b := range texts {
		texts[b].length = copy(texts[b].text[:], strconv.Itoa(b)+",")
	}
	return texts
}()

// zeroTexts are the leading zeros of a value; most amounts need few of their 32 bytes.
var zeroTexts = strings.Repeat("0,", 32)

// base64 writes raw in standard, padded base64.
func (w *writer) base64(raw []byte) {
	json := append(w.json, '"')
	json = base64.StdEncoding.AppendEncode(json, raw)
	w.json = append(json, '"')
}

// byteList writes raw as a list of numbers within a string: "[0,0,33,5]". Clients parse it as JSON again. Half of an
// order record are such lists; always appending four characters and cutting off the excess takes a third of the time of
// appending strings of one to four.
func (w *writer) byteList(raw []byte) {
	list := append(w.json, '"', '[')
	zeros := 0
	for zeros < len(raw) && 2*zeros < len(zeroTexts) && raw[zeros] == 0 {
		zeros++
	}
	list = append(list, zeroTexts[:2*zeros]...)
	for _, b := range raw[zeros:] {
		next := &byteTexts[b]
		list = append(list, next.text[0], next.text[1], next.text[2], next.text[3])
		list = list[:len(list)-len(next.text)+next.length]
	}
	if len(raw) > 0 {
		list = list[:len(list)-1] // the last comma
	}
	w.json = append(list, ']', '"')
}

// hex writes raw as lower-case 0x hex.
func (w *writer) hex(raw []byte) {
	json := append(w.json, `"0x`...)
	json = hex.AppendEncode(json, raw)
	w.json = append(json, '"')
}

// decimal writes an amount as a string of digits.
func (w *writer) decimal(a chain.Amount) {
	json := append(w.json, '"')
	json = a.AppendDecimal(json)
	w.json = append(json, '"')
}

// bigNumber writes a BigNumberValue: 32 bytes, big-endian. bigIntegerValue is digits of any length.
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

// hashOf writes a HashValue in the form of family, three nulls when absent.
func (w *writer) hashOf(h chain.Hash, family chain.Family) {
	w.open('{')
	if h.IsAbsent() {
		w.name("bytesValue").null()
		w.name("bytesArrayValue").null()
		w.name("stringValue").null()
		w.close('}')
		return
	}
	w.name("bytesValue").base64(h[:])
	w.name("bytesArrayValue").byteList(h[:])
	w.name("stringValue")
	if family == chain.EVM {
		w.hex(h[:])
	} else {
		w.plain(h.Format(family))
	}
	w.close('}')
}

// address writes an AddressValue in the form of family. An absent one has an empty string between nulls.
func (w *writer) address(a chain.Address, family chain.Family) {
	w.open('{')
	if a.IsAbsent() {
		w.name("Base64Value").null()
		w.name("bytesArrayValue").plain("")
		w.name("stringValue").null()
		w.close('}')
		return
	}
	raw := a.Bytes()
	w.name("Base64Value").base64(raw)
	w.name("bytesArrayValue").byteList(raw)
	w.name("stringValue")
	if family == chain.EVM {
		w.hex(raw)
	} else {
		w.plain(a.Format(family))
	}
	w.close('}')
}

// addressOrNull writes null for an absent address.
func (w *writer) addressOrNull(a chain.Address, family chain.Family) {
	if a.IsAbsent() {
		w.null()
		return
	}
	w.address(a, family)
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

// tokenMetadata writes a TokenMetadata.
func (w *writer) tokenMetadata(t token.Token) {
	w.open('{')
	w.tokenMembers(t)
	w.close('}')
}

func (w *writer) tokenMembers(t token.Token) {
	if w.name("decimals"); t == (token.Token{}) {
		w.null() // it could not be read
	} else {
		w.uint(uint64(t.Decimals))
	}
	w.name("name").text(t.Name)
	w.name("symbol").text(t.Symbol)
	w.name("logoURI").text(t.LogoURI)
}

// eventMetadata writes an EventMetadata, null when the event has not been seen.
func (w *writer) eventMetadata(at *order.At) {
	if at == nil {
		w.null()
		return
	}
	family := w.chains.Family(at.Chain)
	w.open('{')
	w.name("transactionHash").txHash(at.Tx, family)
	w.name("blockNumber").uint(at.Block)
	w.name("blockHash").hashOf(at.BlockHash, family)
	w.name("blockTimeStamp").uint(at.Time)
	w.name("initiator").addressOrNull(at.Initiator, family)
	w.close('}')
}

// eventInfo writes an EventInfo: always an object, of nulls when the event has not been seen.
func (w *writer) eventInfo(at *order.At, submission chain.Hash) {
	w.open('{')
	w.name("transactionMetadata").eventMetadata(at)
	w.name("submissionId").hash(submission)
	w.close('}')
}
