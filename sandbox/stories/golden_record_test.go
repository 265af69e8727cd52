package stories_test

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mr-tron/base58"
)

// expectation is what the golden ledgers contain, according to a decoder that shares no code with the gateway.
type expectation struct {
	Orders []goldenOrder
	Locked []struct {
		Taker  string
		Chains []goldenLocked
	}
}

type goldenOrder struct {
	OrderID                    string
	CreationTxHash             string
	SourceChainID, TakeChainID json.Number
	IndexInTx, OrdersInTx      int
	Record                     map[string]any // as in the API, with amounts in decimal digits and bytes in hex
	Extra                      struct{ ActualFulfillAmount any }
}

type goldenLocked struct {
	ChainID      json.Number
	LockedTokens []struct {
		TokenAddress, Amount string
		Token                map[string]any
		DstChains            []struct {
			TargetChainID json.Number
			Amount        string
			Orders        []struct{ OrderID string }
		}
	}
}

func readExpectation(t testing.TB) expectation {
	t.Helper()
	var e expectation
	readGolden(t, filepath.Join(golden, "ledgers-A", "expected-A.json"), &e)
	return e
}

// memberKinds are the members of a record that the API encodes differently. An absent address is an object of nulls, or
// null if it is optional.
var memberKinds = map[string]string{
	"orderId": "hash", "submissionId": "hash", "transactionHash": "hash", "blockHash": "hash",
	"chainId": "amount", "amount": "amount", "finalAmount": "amount", "actualFulfillAmount": "amount",
	"percentFee": "amount", "finalPercentFee": "amount", "fixFee": "amount", "makerOrderNonce": "number",
	"makerSrc": "address", "receiverDst": "address", "givePatchAuthoritySrc": "address", "orderAuthorityAddressDst": "address",
	"allowedTakerDst": "address", "allowedCancelBeneficiarySrc": "address", "taker": "address", "unlockAuthorityDst": "address",
	"tokenAddress": "address", "initiator": "address", "beneficiarySrc": "address",
	"unlockBeneficiarySrc": "optional address", "cancelBeneficiarySrc": "optional address",
}

// json returns the expected response for the record.
func (o goldenOrder) json() map[string]any {
	record := o.member("", o.Record, 0).(map[string]any)
	record["actualFulfillAmount"] = o.member("actualFulfillAmount", o.Extra.ActualFulfillAmount, 0)
	record["orderMetadata"] = record["orderMetadataRaw"]
	delete(record, "orderMetadataRaw")
	if raw, has := record["orderMetadata"].(string); has {
		record["orderMetadata"] = metadataJSON(unhex(raw))
	}
	return record
}

// member returns a member of the response. An address is of the chain in its name, or of the enclosing object's chain.
func (o goldenOrder) member(name string, value any, id uint64) any {
	switch {
	case strings.Contains(name, "Src"):
		id = chainIDOf(o.SourceChainID)
	case strings.Contains(name, "Dst"), name == "taker":
		id = chainIDOf(o.TakeChainID)
	}
	text, has := value.(string)
	switch kind := memberKinds[name]; {
	case kind == "hash" && !has:
		return hashJSON(nil)
	case kind == "address" && !has:
		return addressJSON(nil, id)
	case kind == "hash":
		return hashJSON(unhex(text))
	case strings.HasSuffix(kind, "address") && has:
		return addressJSON(unhex(text), id)
	case kind == "amount" && has:
		return digitsJSON(text)
	case kind == "number":
		return json.Number(text)
	}
	members, nested := value.(map[string]any)
	if !nested {
		return value
	}
	answer := map[string]any{}
	token, isOffer := members["token"].(map[string]any)
	if isOffer {
		id = digits(members["chainId"].(string)).Uint64()
		answer = tokenJSON(token, id, unhex(members["tokenAddress"].(string)))
		answer["metadata"] = maps.Clone(answer)
	}
	for name, each := range members {
		if name != "token" {
			answer[name] = o.member(name, each, id)
		}
	}
	return answer
}

// tokenJSON omits the name of a native coin, which chains do not have. A token on a chain that was not recorded has
// only the URL of its picture.
func tokenJSON(token map[string]any, id uint64, address []byte) map[string]any {
	answer := map[string]any{
		"logoURI": fmt.Sprintf("https://tokens.debridge.finance/Logo/%d/%s/big/token-logo.png", id, addressText(address, id)),
	}
	if name, named := token["name"].(string); named && name != "" {
		answer["name"], answer["symbol"] = name, token["symbol"]
	}
	if decimals, has := token["decimals"].(json.Number); has {
		answer["decimals"] = decimals
	} else if token["status"] == "decimals reverts" {
		answer["decimals"] = json.Number("0")
	}
	return answer
}

// json returns the response's element for a chain, without USD values, because these tokens have no price.
func (g goldenLocked) json() map[string]any {
	id := chainIDOf(g.ChainID)
	tokens := []any{}
	for _, each := range g.LockedTokens {
		metadata := tokenJSON(each.Token, id, unhex(each.TokenAddress))
		offer := map[string]any{"metadata": metadata}
		targets := []any{}
		for _, target := range each.DstChains {
			ids := []string{}
			for _, o := range target.Orders {
				ids = append(ids, o.OrderID)
			}
			slices.Sort(ids)
			orders := []any{}
			for _, id := range ids {
				orders = append(orders, hashJSON(unhex(id)))
			}
			targets = append(targets, map[string]any{
				"targetChainId": digitsJSON(target.TargetChainID.String()), "ordersToUnlock": orders,
				"dstChainTokenAmount": unitsJSON(digits(target.Amount), offer),
			})
		}
		tokens = append(tokens, map[string]any{
			"tokenAddress": addressJSON(unhex(each.TokenAddress), id), "tokenMetadata": metadata,
			"tokenAmount": unitsJSON(digits(each.Amount), offer), "dstChainsLockedAmounts": targets,
		})
	}
	return map[string]any{"chainId": digitsJSON(g.ChainID.String()), "lockedTokens": tokens}
}

func lockedJSON(chains []goldenLocked) []any {
	chains = slices.SortedFunc(slices.Values(chains), func(a, b goldenLocked) int {
		return cmp.Compare(chainIDOf(a.ChainID), chainIDOf(b.ChainID))
	})
	list := []any{}
	for _, c := range chains {
		list = append(list, c.json())
	}
	return list
}

func chainIDOf(n json.Number) uint64 { return digits(n.String()).Uint64() }

func digits(text string) *big.Int {
	n, valid := new(big.Int).SetString(text, 10)
	if !valid {
		panic("no number: " + text)
	}
	return n
}

func digitsJSON(text string) map[string]any { return numberJSON(digits(text)) }

// unhex decodes 0x hex, or base58, which belongs to Solana.
func unhex(text string) []byte {
	if digits, prefixed := strings.CutPrefix(text, "0x"); prefixed {
		raw, err := hex.DecodeString(digits)
		if err != nil {
			panic(err)
		}
		return raw
	}
	raw, err := base58.Decode(text)
	if err != nil {
		panic(err)
	}
	return raw
}
