package shadow

import (
	"maps"
	"strings"
)

// kind of a member decides how two of it are compared.
type kind uint8

const (
	exact     kind = iota // the same value
	step                  // state of an order, or of its external call
	progress              // blank until the order has come that far
	drifting              // a number that changes in one direction only, so that a difference is one of time
	quantity              // a number that moves with prices: the same within the tolerance
	free                  // of each server's own making
	ownMember             // of this gateway alone
	rows                  // a list whose rows have a key
	newest                // rows, the newest first, and an answer has a part of them
	moving                // rows that come and go as orders do, or have such rows, or their number
	selection             // an object whose keys are values that each server chooses
)

type rule struct {
	kind kind
	key  string // of rows: the paths of the members that are their key, empty: the row itself
}

// rules are the members of an answer that are not exact, by their path: names joined by slashes, where * stands for a
// row of a list and for any key of a selection. A member that an answer may lack, by openapi.yaml, has a rule as well.
type rules map[string]rule

// compared are the paths whose answers are compared, by the pattern of the router. The facts are those of openapi.yaml.
var compared = map[string]rules{
	"/api/Orders/creationTxHash/:creationTxHash": orderRules,
	"/api/Orders/:orderId":                       orderRules,
	"/api/Orders/:orderId/state":                 {"": {kind: step}},
	"/api/Orders/:orderId/liteModel":             liteRules,
	"/api/Transaction/:hash/liteModels":          join(rules{"": {rows, "orderId/stringValue"}}, under("*", liteRules)),
	"/api/Orders/filteredList": join(rules{
		"orders": {newest, "orderId/stringValue"}, "totalCount": {kind: drifting},
	}, under("orders/*", offerRules, rules{
		"state": {kind: step}, "externalCallState": {kind: step}, "finalPercentFee": {kind: drifting},
		"affiliateFee": {kind: progress}, "unlockAuthorityDst": {kind: progress},
	})),
	"/api/Orders/getForUnlockAuthorities": {
		"orders": {moving, "orderId/stringValue"}, "totalCount": {kind: moving},
	},
	"/api/Transaction/:hash/orderIds": {"orderIds": {rows, "stringValue"}},
	"/v1.0/dln/tx/:hash/order-ids":    {"orderIds": {rows, ""}},
	"/v1.0/dln/order/:orderId":        {"status": {kind: step}, "externalCallState": {kind: step}},
	"/v1.0/dln/order/:orderId/status": {"status": {kind: step}, "fulfilledDstEventMetadata": {kind: ownMember}},
	"/api/SameChainSwap/:id/tx/:hash": swapRecordRules,
	"/api/SameChainSwap/:id":          swapRecordRules,
	"/api/Satistics/getDaily":         join(under("dailyData", dailyRules), under("dailyDataCumulative", dailyRules)),
	"/api/Satistics/getAllTime":       allTimeRules,
	"/api/Satistics/:takerAddress/lockedAssets": join(rules{
		"":               {moving, "chainId/stringValue"},
		"*/lockedTokens": {moving, "tokenAddress/stringValue"},
		"*/lockedTokens/*/dstChainsLockedAmounts":                  {moving, "targetChainId/stringValue"},
		"*/lockedTokens/*/dstChainsLockedAmounts/*/ordersToUnlock": {moving, "stringValue"},
	}, under("*/lockedTokens/*", each(free, "tokenMetadata/logoURI"),
		each(quantity, "amount tokenAmount dstChainsLockedAmounts/*/dstChainAmount dstChainsLockedAmounts/*/dstChainTokenAmount"))),
	"/v1.0/chain/transaction":     join(estimationRules, rules{"tx": {kind: free}}),
	"/v1.0/chain/estimation":      under("estimation", estimationRules),
	"/v1.0/supported-chains-info": {"chains": {rows, "chainId"}, "chains/*": {kind: ownMember}},
	"/v1.0/supported-chains":      {"chains": {rows, ""}, "chains/*": {kind: ownMember}},
	"/v1.0/token-list": join(rules{"tokens": {kind: selection}, "tokens/*/isNative": {kind: exact}},
		under("tokens/*", each(free, "logoURI tags eip2612"))),
	"/v1.0/token-list/search": {"tokens": {kind: free}},
}

var liteRules = join(
	rules{"state": {kind: step}, "externalCallState": {kind: step}},
	each(progress, "creationTimestamp rawOrderMetadataHex orderFulfilledTransactionHash"),
)

// offerRules are of what an order gives and takes. A maker can give more and take less, never the other way.
var offerRules = join(
	each(drifting, "giveOfferWithMetadata/finalAmount takeOfferWithMetadata/finalAmount"),
	each(free, `giveOfferWithMetadata/logoURI giveOfferWithMetadata/metadata/logoURI
		takeOfferWithMetadata/logoURI takeOfferWithMetadata/metadata/logoURI`),
	each(progress, "preswapData orderMetadata"),
	under("preswapData", each(free, "tokenInLogoURI tokenOutLogoURI tokenInMetadata/logoURI tokenOutMetadata/logoURI")),
	under("orderMetadata", each(exact, `rawMetadataHex version creationProcessType origin additionalTakerIncentiveBps
		operatingExpensesAmount recommendedTakeAmount metadata promotionType orderTradeType`)),
)

var orderRules = join(offerRules,
	rules{"state": {kind: step}, "externalCallState": {kind: step}, "finalPercentFee": {kind: drifting}},
	each(progress, "externalCallData referralCode percentFee fixFee affiliateFee "+creation+" "+creation+"/initiator"),
	each(progress, `actualFulfillAmount unlockBeneficiarySrc cancelBeneficiarySrc taker unlockAuthorityDst fulfilledDstEventMetadata
		sentUnlockDstEventInfo claimedUnlockSrcEventInfo
		orderCancelledDstEventMetadata sentOrderCancelDstEventInfo claimedOrderCancelSrcEventInfo`),
)

// creation is the member that is blank where an order is known from the chain of its delivery alone.
const creation = "createdSrcEventMetadata"

var swapRecordRules = join(
	each(free, "tokenIn/metadata/logoURI tokenOut/metadata/logoURI affiliateFee/affiliateFee/metadata/logoURI"),
	each(ownMember, "state grossTokenOut protocolFee referralCode blockNumber blockHash"),
)

// countRules are of what statistics of a day and of all time have.
var countRules = join(
	each(drifting, "createdOrdersCount fulfilledOrdersCount uniqueOrderCreators"),
	each(quantity, "totalAmountGivenUsd totalAmountTakenUsd totalProtocolFeeUsd"),
	each(ownMember, "unpricedOrdersCount"),
)

var dailyRules = join(
	rules{"": {moving, "giveChainId/stringValue takeChainId/stringValue date"}},
	under("*", countRules, each(drifting, "newOrderCreators")),
)

var allTimeRules = join(countRules, each(quantity, "totalAffiliateFeeUsd"), each(moving, "activeOrdersCount"), each(free, "date"))

// estimationRules are of a swap without its transaction: venues and gas differ between any two servers.
var estimationRules = join(
	each(free, "estimatedTransactionFee comparedAggregators recommendedSlippage"),
	each(quantity, `tokenIn/amount tokenIn/approximateUsdValue tokenOut/amount tokenOut/minAmount tokenOut/approximateUsdValue
		protocolFee protocolFeeApproximateUsdValue
		costsDetails/*/amountIn costsDetails/*/amountOut costsDetails/*/payload/feeAmount`),
	rules{"costsDetails": {rows, "type"}},
)

// problemRules are of an error: its words and request id are each server's own, and few of its numbers are published.
var problemRules = join(each(free, "message errorMessage reqId errorCode"), each(exact, "errorId"))

func each(k kind, members string) rules {
	all := rules{}
	for member := range strings.FieldsSeq(members) {
		all[member] = rule{kind: k}
	}
	return all
}

func join(all ...rules) rules {
	joined := rules{}
	for _, each := range all {
		maps.Copy(joined, each)
	}
	return joined
}

func under(path string, all ...rules) rules {
	moved := rules{}
	for below, r := range join(all...) {
		moved[strings.TrimSuffix(path+"/"+below, "/")] = r
	}
	return moved
}
