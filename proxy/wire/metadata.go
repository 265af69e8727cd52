package wire

import "crossgate/order/onchain"

// orderMetadata writes the decoded metadata of the maker's software. Members that are missing, or have a code without a
// name, are omitted, because strict clients accept no null there. In that case, and always in lists of orders, the raw
// bytes are added, as by the hosted service.
func (w *writer) orderMetadata(raw []byte, isListed bool) {
	if len(raw) == 0 {
		w.null()
		return
	}
	m, known := onchain.ParseMetadata(raw)
	w.open('{')
	if isListed || m.CreationProcessType == "" || m.Origin == "" || m.PromotionType == "" || m.OrderTradeType == "" {
		w.name("rawMetadataHex").hex(raw)
	}
	if known {
		w.name("version").uint(uint64(m.Version))
		w.wordOrNone("creationProcessType", m.CreationProcessType)
		w.wordOrNone("origin", m.Origin)
		w.name("additionalTakerIncentiveBps").uint(uint64(m.AdditionalTakerIncentiveBps))
		w.name("operatingExpensesAmount").decimal(m.OperatingExpenses)
		w.name("recommendedTakeAmount").decimal(m.RecommendedTake)
		w.name("metadata").hex(m.Metadata[:])
		w.wordOrNone("promotionType", m.PromotionType)
		w.wordOrNone("orderTradeType", m.OrderTradeType)
	}
	// No known layout contains these; recorded responses have null.
	w.name("partnerFeeBps").null()
	w.name("srcProtocolChainId").null()
	w.name("dstProtocolChainId").null()
	w.close('}')
}

func (w *writer) wordOrNone(name, word string) {
	if word != "" {
		w.name(name).plain(word)
	}
}
