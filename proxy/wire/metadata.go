package wire

import "crossgate/order/onchain"

// orderMetadata writes the decoded metadata of the maker's software. The raw bytes are added where a code or the whole
// version is unknown, and always in lists of orders, as the hosted service does.
func (w *writer) orderMetadata(raw []byte, isListed bool) {
	if len(raw) == 0 {
		w.null()
		return
	}
	m, known := onchain.ParseMetadata(raw)
	w.open('{')
	if !known {
		w.name("rawMetadataHex").hex(raw)
		for _, member := range []string{
			"version", "creationProcessType", "origin", "additionalTakerIncentiveBps", "operatingExpensesAmount",
			"recommendedTakeAmount", "metadata", "promotionType", "orderTradeType",
		} {
			w.name(member).null()
		}
	} else {
		if isListed || m.CreationProcessType == "" || m.Origin == "" || m.PromotionType == "" || m.OrderTradeType == "" {
			w.name("rawMetadataHex").hex(raw)
		}
		w.name("version").uint(uint64(m.Version))
		w.name("creationProcessType").wordOrNull(m.CreationProcessType)
		w.name("origin").wordOrNull(m.Origin)
		w.name("additionalTakerIncentiveBps").uint(uint64(m.AdditionalTakerIncentiveBps))
		w.name("operatingExpensesAmount").decimal(m.OperatingExpenses)
		w.name("recommendedTakeAmount").decimal(m.RecommendedTake)
		w.name("metadata").hex(m.Metadata[:])
		w.name("promotionType").wordOrNull(m.PromotionType)
		w.name("orderTradeType").wordOrNull(m.OrderTradeType)
	}
	// No known layout has room for these; recorded responses hold null.
	w.name("partnerFeeBps").null()
	w.name("srcProtocolChainId").null()
	w.name("dstProtocolChainId").null()
	w.close('}')
}

func (w *writer) wordOrNull(word string) {
	if word == "" {
		w.null()
		return
	}
	w.plain(word)
}
