package onchain

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"crossgate/chain"
)

// Metadata is what deBridge's software wrote about an order. Names are empty for codes whose name is unknown.
type Metadata struct {
	Version                     int
	CreationProcessType         string
	Origin                      string
	AdditionalTakerIncentiveBps int
	OperatingExpenses           chain.Amount // in the take token
	RecommendedTake             chain.Amount // in the take token
	Metadata                    [20]byte
	PromotionType               string // absent below 66 bytes
	OrderTradeType              string // absent below 67 bytes
}

// The only version seen, and its lengths: it was extended at its end.
const (
	metadataVersion        = 1
	metadataLength         = 65
	metadataWithPromotion  = 66
	metadataWithTradeType  = 67
	metadataAmountBytes    = 20
	metadataExpensesOffset = 5
	metadataTakeOffset     = metadataExpensesOffset + metadataAmountBytes
	metadataTextOffset     = metadataTakeOffset + metadataAmountBytes
)

// Names of codes: 1 was recorded as SrcAmountSet, the zero codes are inferred from ordinary orders, others are our own.
var (
	creationProcessTypes = map[byte]string{1: "SrcAmountSet", 2: "DstAmountSet", 4: "BothAmountsSet"}
	origins              = map[byte]string{0: "Default", 1: "App"}
	promotionTypes       = map[byte]string{0: "None"}
	orderTradeTypes      = map[byte]string{0: "Market"}
)

// OrderTradeTypes returns the possible values of Metadata.OrderTradeType, ascending.
func OrderTradeTypes() []string { return slices.Sorted(maps.Values(orderTradeTypes)) }

// ParseMetadata decodes a creation's metadata; known is false for other versions and lengths. The little-endian layout
// is inferred from recorded orders: two codes, basis points, expenses, recommended take, 20 free bytes, two codes.
func ParseMetadata(raw []byte) (m Metadata, known bool) {
	if len(raw) < metadataLength || len(raw) > metadataWithTradeType || raw[0] != metadataVersion {
		return Metadata{}, false
	}
	m = Metadata{
		Version:                     int(raw[0]),
		CreationProcessType:         creationProcessTypes[raw[1]],
		Origin:                      origins[raw[2]],
		AdditionalTakerIncentiveBps: int(binary.LittleEndian.Uint16(raw[3:])),
		OperatingExpenses:           littleEndian(raw[metadataExpensesOffset:metadataTakeOffset]),
		RecommendedTake:             littleEndian(raw[metadataTakeOffset:metadataTextOffset]),
		Metadata:                    [20]byte(raw[metadataTextOffset:]),
	}
	if len(raw) >= metadataWithPromotion {
		m.PromotionType = promotionTypes[raw[metadataLength]]
	}
	if len(raw) >= metadataWithTradeType {
		m.OrderTradeType = orderTradeTypes[raw[metadataWithPromotion]]
	}
	return m, true
}

// Encode encodes metadata at the newest length. Names without a code and amounts over 160 bits are errors.
func (m Metadata) Encode() ([]byte, error) {
	raw := make([]byte, metadataWithTradeType)
	raw[0] = metadataVersion
	for at, named := range map[int]struct {
		codes map[byte]string
		name  string
	}{
		1: {creationProcessTypes, m.CreationProcessType}, 2: {origins, m.Origin},
		metadataLength: {promotionTypes, m.PromotionType}, metadataWithPromotion: {orderTradeTypes, m.OrderTradeType},
	} {
		code, err := codeOf(named.codes, named.name)
		if err != nil {
			return nil, err
		}
		raw[at] = code
	}
	if m.AdditionalTakerIncentiveBps < 0 || m.AdditionalTakerIncentiveBps > math.MaxUint16 {
		return nil, fmt.Errorf("%d basis points are not metadata", m.AdditionalTakerIncentiveBps)
	}
	binary.LittleEndian.PutUint16(raw[3:], uint16(m.AdditionalTakerIncentiveBps))
	for at, amount := range map[int]chain.Amount{metadataExpensesOffset: m.OperatingExpenses, metadataTakeOffset: m.RecommendedTake} {
		word := amount.Bytes32()
		slices.Reverse(word[:])
		if littleEndian(word[metadataAmountBytes:]) != (chain.Amount{}) {
			return nil, fmt.Errorf("%s exceeds the %d bytes of metadata", amount, metadataAmountBytes)
		}
		copy(raw[at:], word[:metadataAmountBytes])
	}
	copy(raw[metadataTextOffset:], m.Metadata[:])
	return raw, nil
}

// codeOf returns the code of a name; 0 for an empty name.
func codeOf(codes map[byte]string, name string) (byte, error) {
	for code, known := range codes {
		if known == name || name == "" && code == 0 {
			return code, nil
		}
	}
	return 0, fmt.Errorf("metadata has no code for %q", name)
}

func littleEndian(raw []byte) chain.Amount {
	raw = slices.Clone(raw)
	slices.Reverse(raw)
	return chain.AmountFromBytes(raw)
}
