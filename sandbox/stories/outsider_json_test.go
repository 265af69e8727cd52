package stories_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/mr-tron/base58"
)

func (o *outsider) eventJSON(c *outsiderChain, log types.Log) map[string]any {
	o.t.Helper()
	ctx := context.Background()
	header, known := c.headers[log.BlockNumber]
	if !known {
		var err error
		if header, err = c.client.HeaderByHash(ctx, log.BlockHash); err != nil {
			o.t.Fatal(err)
		}
		c.headers[log.BlockNumber] = header
	}
	sender, known := c.senders[log.TxHash]
	if !known {
		tx, _, err := c.client.TransactionByHash(ctx, log.TxHash)
		if err != nil {
			o.t.Fatal(err)
		}
		if sender, err = types.Sender(types.LatestSignerForChainID(tx.ChainId()), tx); err != nil {
			o.t.Fatal(err)
		}
		c.senders[log.TxHash] = sender
	}
	return map[string]any{
		"transactionHash": chainHashJSON(log.TxHash.Bytes(), c.id),
		"blockNumber":     json.Number(fmt.Sprint(log.BlockNumber)),
		"blockHash":       chainHashJSON(blockHash(c.id, log), c.id),
		"blockTimeStamp":  json.Number(fmt.Sprint(header.Time)),
		"initiator":       addressJSON(sender.Bytes(), c.id),
	}
}

func (o *outsider) offerJSON(chainID *big.Int, token []byte, amount *big.Int) map[string]any {
	metadata := o.tokenJSON(chainID.Uint64(), token)
	offer := map[string]any{
		"chainId": numberJSON(chainID), "tokenAddress": addressJSON(token, chainID.Uint64()),
		"amount": numberJSON(amount), "finalAmount": numberJSON(amount), "metadata": metadata,
	}
	for name, value := range metadata {
		offer[name] = value
	}
	return offer
}

// tokenJSON asks the token's contract.
func (o *outsider) tokenJSON(chainID uint64, token []byte) map[string]any {
	address := addressText(token, chainID)
	out := map[string]any{"logoURI": fmt.Sprintf("https://tokens.debridge.finance/Logo/%d/%s/big/token-logo.png", chainID, address)}
	if chainID == solanaID {
		o.solana.describe(o.t, address, out)
		return out
	}
	c := o.chains[chainID]
	if common.BytesToAddress(token) == (common.Address{}) {
		out["decimals"] = json.Number(fmt.Sprint(c.coinDecimals))
		return out
	}
	for _, field := range []string{"name", "symbol"} {
		out[field] = c.text(o.t, common.BytesToAddress(token), field)
	}
	out["decimals"] = json.Number("0") // where the contract does not tell
	if raw, err := c.read(common.BytesToAddress(token), "decimals()"); err == nil && len(raw) == 32 {
		out["decimals"] = json.Number(new(big.Int).SetBytes(raw).String())
	}
	return out
}

func (c *outsiderChain) read(token common.Address, signature string) ([]byte, error) {
	selector := abi.NewMethod("", strings.TrimSuffix(signature, "()"), abi.Function, "view", false, false, nil, nil).ID
	return c.client.CallContract(context.Background(), ethereum.CallMsg{To: &token, Data: selector}, nil)
}

// text reads a string, or 32 bytes padded with zeros as some old tokens answer.
func (c *outsiderChain) text(t *testing.T, token common.Address, field string) string {
	t.Helper()
	raw, err := c.read(token, field+"()")
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) == 32 {
		return string(bytes.TrimRight(raw, "\x00"))
	}
	kind, err := abi.NewType("string", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	values, err := abi.Arguments{{Type: kind}}.Unpack(raw)
	if err != nil {
		t.Fatal(err)
	}
	return values[0].(string)
}

func arrayText(raw []byte) string {
	return strings.ReplaceAll(fmt.Sprint(slices.Clone(raw)), " ", ",")
}

func numberJSON(n *big.Int) map[string]any {
	raw := common.LeftPadBytes(n.Bytes(), 32)
	return map[string]any{
		"bytesValue": base64.StdEncoding.EncodeToString(raw), "bytesArrayValue": arrayText(raw),
		"bigIntegerValue": json.Number(n.String()), "stringValue": n.String(),
	}
}

func hashJSON(raw []byte) map[string]any {
	if raw == nil {
		return map[string]any{"bytesValue": nil, "bytesArrayValue": nil, "stringValue": nil}
	}
	return map[string]any{
		"bytesValue": base64.StdEncoding.EncodeToString(raw), "bytesArrayValue": arrayText(raw),
		"stringValue": "0x" + hex.EncodeToString(raw),
	}
}

// chainHashJSON is a hash that a chain knows something by: TRON writes it without 0x, Solana as base58.
func chainHashJSON(raw []byte, chainID uint64) map[string]any {
	out := hashJSON(raw)
	switch chainID {
	case tronID:
		out["stringValue"] = hex.EncodeToString(raw)
	case solanaID:
		out["stringValue"] = base58.Encode(raw)
	}
	return out
}

// blockHash is the hash of the log's block; on TRON the number stands in its first eight bytes.
func blockHash(chainID uint64, log types.Log) []byte {
	if chainID != tronID {
		return log.BlockHash.Bytes()
	}
	return append(binary.BigEndian.AppendUint64(nil, log.BlockNumber), log.BlockHash[8:]...)
}

// addressOf reads an address as the world shows it: hex, or TRON's base58check.
func addressOf(t *testing.T, text string) common.Address {
	t.Helper()
	if common.IsHexAddress(text) {
		return common.HexToAddress(text)
	}
	raw, err := base58.Decode(text)
	if err != nil || addressText(raw[1:21], tronID) != text {
		t.Fatalf("%q is no address: %v", text, err)
	}
	return common.BytesToAddress(raw[1:21])
}

func addressText(raw []byte, chainID uint64) string {
	switch chainID {
	case solanaID:
		return base58.Encode(raw)
	case tronID:
		body := append([]byte{0x41}, raw...)
		once := sha256.Sum256(body)
		twice := sha256.Sum256(once[:])
		return base58.Encode(append(body, twice[:4]...))
	}
	return "0x" + hex.EncodeToString(raw)
}

func addressJSON(raw []byte, chainID uint64) map[string]any {
	if len(raw) == 0 {
		return map[string]any{"Base64Value": nil, "bytesArrayValue": "", "stringValue": nil}
	}
	return map[string]any{
		"Base64Value": base64.StdEncoding.EncodeToString(raw), "bytesArrayValue": arrayText(raw),
		"stringValue": addressText(raw, chainID),
	}
}

func infoJSON(event map[string]any, submission []byte) map[string]any {
	info := map[string]any{"transactionMetadata": nil, "submissionId": hashJSON(submission)}
	if event != nil {
		info["transactionMetadata"] = event
	}
	return info
}

func affiliateJSON(raw []byte, chainID uint64) any {
	if len(raw) != 52 {
		return nil
	}
	return map[string]any{"beneficiarySrc": addressJSON(raw[:20], chainID), "amount": numberJSON(new(big.Int).SetBytes(raw[20:]))}
}

// metadataJSON has the members whose place in the bytes is known; the test compares no others.
func metadataJSON(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	little := func(part []byte) string {
		part = slices.Clone(part)
		slices.Reverse(part)
		return new(big.Int).SetBytes(part).String()
	}
	out := map[string]any{"rawMetadataHex": "0x" + hex.EncodeToString(raw)}
	if raw[0] == 1 && len(raw) == 66 {
		out["version"] = json.Number("1")
		out["operatingExpensesAmount"] = little(raw[5:25])
		out["recommendedTakeAmount"] = little(raw[25:45])
	}
	return out
}
