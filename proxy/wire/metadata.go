package wire

import "crossgate/order/onchain"

// orderMetadata writes what the maker's software noted, decoded. The raw bytes go along, as the service's
// own lists of orders show them, when something of them has no name: a code, or the whole version.
func (w *writer) orderMetadata(raw []byte) {
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
		if m.CreationProcessType == "" || m.Origin == "" || m.PromotionType == "" || m.OrderTradeType == "" {
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
	// No layout that is known has room for these; recorded answers hold null.
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
