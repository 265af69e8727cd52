package stories_test

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mr-tron/base58"
)

// expectation is what the golden ledgers must become, by a decoder that shares no code with the gateway.
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
	Record                     goldenRecord
	Extra                      struct{ ActualFulfillAmount *string }
}

// goldenRecord has the members of the record, amounts in decimal digits, bytes in hex.
type goldenRecord struct {
	OrderID, MakerOrderNonce                                              string
	MakerSrc, ReceiverDst                                                 *string
	GiveOfferWithMetadata, TakeOfferWithMetadata                          goldenOffer
	GivePatchAuthoritySrc, OrderAuthorityAddressDst                       *string
	AllowedTakerDst, AllowedCancelBeneficiarySrc                          *string
	State, ExternalCallState                                              string
	ReferralCode                                                          json.Number
	PercentFee, FinalPercentFee, FixFee                                   string
	UnlockBeneficiarySrc, CancelBeneficiarySrc, Taker, UnlockAuthorityDst *string
	AffiliateFee                                                          *struct{ BeneficiarySrc, Amount string }
	CreatedSrcEventMetadata, FulfilledDstEventMetadata                    *goldenEvent
	OrderCancelledDstEventMetadata                                        *goldenEvent
	SentUnlockDstEventInfo, ClaimedUnlockSrcEventInfo                     goldenMessage
	SentOrderCancelDstEventInfo, ClaimedOrderCancelSrcEventInfo           goldenMessage
	ExternalCallData, OrderMetadataRaw                                    *string
}

type goldenOffer struct {
	ChainID, Amount, FinalAmount string
	TokenAddress                 string
	Token                        goldenToken
}

type goldenToken struct {
	Status, Name, Symbol string
	Decimals             *json.Number
}

type goldenEvent struct {
	TransactionHash, BlockHash, Initiator string
	BlockNumber, BlockTimeStamp           json.Number
}

type goldenMessage struct {
	TransactionMetadata *goldenEvent
	SubmissionID        *string
}

type goldenLocked struct {
	ChainID      json.Number
	LockedTokens []struct {
		TokenAddress, Amount string
		Token                goldenToken
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

// json is the answer that the record calls for.
func (o goldenOrder) json() map[string]any {
	r := o.Record
	give, take := chainIDOf(o.SourceChainID), chainIDOf(o.TakeChainID)
	return map[string]any{
		"orderId": hashJSON(unhex(o.OrderID)), "makerOrderNonce": json.Number(r.MakerOrderNonce),
		"makerSrc": addressJSON(unhexIf(r.MakerSrc), give), "receiverDst": addressJSON(unhexIf(r.ReceiverDst), take),
		"giveOfferWithMetadata": r.GiveOfferWithMetadata.json(), "takeOfferWithMetadata": r.TakeOfferWithMetadata.json(),
		"actualFulfillAmount":         numberOrNull(o.Extra.ActualFulfillAmount),
		"givePatchAuthoritySrc":       addressJSON(unhexIf(r.GivePatchAuthoritySrc), give),
		"orderAuthorityAddressDst":    addressJSON(unhexIf(r.OrderAuthorityAddressDst), take),
		"allowedTakerDst":             addressJSON(unhexIf(r.AllowedTakerDst), take),
		"allowedCancelBeneficiarySrc": addressJSON(unhexIf(r.AllowedCancelBeneficiarySrc), give),
		"state":                       r.State, "externalCallState": r.ExternalCallState, "referralCode": r.ReferralCode,
		"percentFee": digitsJSON(r.PercentFee), "finalPercentFee": digitsJSON(r.FinalPercentFee), "fixFee": digitsJSON(r.FixFee),
		"unlockBeneficiarySrc":           addressOrNull(r.UnlockBeneficiarySrc, give),
		"cancelBeneficiarySrc":           addressOrNull(r.CancelBeneficiarySrc, give),
		"taker":                          addressJSON(unhexIf(r.Taker), take),
		"unlockAuthorityDst":             addressJSON(unhexIf(r.UnlockAuthorityDst), take),
		"affiliateFee":                   r.affiliateJSON(give),
		"createdSrcEventMetadata":        r.CreatedSrcEventMetadata.json(give),
		"fulfilledDstEventMetadata":      r.FulfilledDstEventMetadata.json(take),
		"sentUnlockDstEventInfo":         r.SentUnlockDstEventInfo.json(take),
		"claimedUnlockSrcEventInfo":      r.ClaimedUnlockSrcEventInfo.json(give),
		"orderCancelledDstEventMetadata": r.OrderCancelledDstEventMetadata.json(take),
		"sentOrderCancelDstEventInfo":    r.SentOrderCancelDstEventInfo.json(take),
		"claimedOrderCancelSrcEventInfo": r.ClaimedOrderCancelSrcEventInfo.json(give),
		"preswapData":                    nil,
		"externalCallData":               textOrNull(r.ExternalCallData),
		"orderMetadata":                  r.metadataJSON(),
	}
}

func (r goldenRecord) affiliateJSON(give uint64) any {
	if r.AffiliateFee == nil {
		return nil
	}
	return map[string]any{
		"beneficiarySrc": addressJSON(unhex(r.AffiliateFee.BeneficiarySrc), give), "amount": digitsJSON(r.AffiliateFee.Amount),
	}
}

func (r goldenRecord) metadataJSON() any {
	if r.OrderMetadataRaw == nil {
		return nil
	}
	return metadataJSON(unhex(*r.OrderMetadataRaw))
}

func (o goldenOffer) json() map[string]any {
	id := chainIDOf(json.Number(o.ChainID))
	metadata := o.Token.json(id, unhex(o.TokenAddress))
	offer := map[string]any{
		"chainId": digitsJSON(o.ChainID), "tokenAddress": addressJSON(unhex(o.TokenAddress), id),
		"amount": digitsJSON(o.Amount), "finalAmount": digitsJSON(o.FinalAmount), "metadata": metadata,
	}
	for name, value := range metadata {
		offer[name] = value
	}
	return offer
}

// json has no name of a native coin, which no chain tells, and nothing of a token on a chain that was not
// recorded but where its picture would be.
func (g goldenToken) json(id uint64, address []byte) map[string]any {
	token := map[string]any{
		"logoURI": fmt.Sprintf("https://tokens.debridge.finance/Logo/%d/%s/big/token-logo.png", id, addressText(address, id)),
	}
	if g.Name != "" {
		token["name"], token["symbol"] = g.Name, g.Symbol
	}
	if g.Decimals != nil {
		token["decimals"] = *g.Decimals
	} else if g.Status == "decimals reverts" {
		token["decimals"] = json.Number("0")
	}
	return token
}

func (g *goldenEvent) json(id uint64) any {
	if g == nil {
		return nil
	}
	return map[string]any{
		"transactionHash": hashJSON(unhex(g.TransactionHash)), "blockNumber": g.BlockNumber,
		"blockHash": hashJSON(unhex(g.BlockHash)), "blockTimeStamp": g.BlockTimeStamp,
		"initiator": addressJSON(unhex(g.Initiator), id),
	}
}

func (g goldenMessage) json(id uint64) map[string]any {
	return map[string]any{
		"transactionMetadata": g.TransactionMetadata.json(id), "submissionId": hashJSON(unhexIf(g.SubmissionID)),
	}
}

// json is the answer's element for a chain; USD values are left out, since nothing prices these tokens.
func (g goldenLocked) json() map[string]any {
	id := chainIDOf(g.ChainID)
	tokens := []any{}
	for _, each := range g.LockedTokens {
		metadata := each.Token.json(id, unhex(each.TokenAddress))
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

func numberOrNull(text *string) any {
	if text == nil {
		return nil
	}
	return digitsJSON(*text)
}

func textOrNull(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

// unhex reads 0x hex, or base58, the form of what belongs to Solana.
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

func unhexIf(text *string) []byte {
	if text == nil {
		return nil
	}
	return unhex(*text)
}

func addressOrNull(text *string, id uint64) any {
	if text == nil {
		return nil
	}
	return addressJSON(unhex(*text), id)
}
