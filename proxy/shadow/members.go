package shadow

import (
	"maps"
	"strings"
)

// kind determines how two values of a member are compared.
type kind uint8

const (
	exact     kind = iota // equal values
	step                  // state of an order or of its external call
	progress              // blank until the order has progressed that far
	drifting              // a number that changes in one direction only, so that a difference is one of time
	quantity              // a number that moves with prices, equal within the tolerance
	free                  // each server has its own
	ownMember             // only this gateway has it, or knows its value
	rows                  // a list whose rows have a key
	newest                // rows, newest first; an answer has a part of them
	moving                // rows that come and go with orders, or contain such rows, or the number of rows
	selection             // an object whose keys each server chooses
)

type rule struct {
	kind kind
	key  string // paths of the members that are the key of rows; empty if the row itself is
}

// rules are the members of an answer that are not exact, by path: names joined by slashes, with * for a row of a list
// or a key of a selection. Members that openapi.yaml makes optional have a rule, too.
type rules map[string]rule

// compared are the compared routes, by the router's pattern. The rules follow openapi.yaml.
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

// offerRules apply to what an order gives and takes. A maker can give more and take less, never the reverse.
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
	each(ownMember, "claimedUnlockSrcEventInfo/submissionId claimedOrderCancelSrcEventInfo/submissionId"),
)

// creation is the member that is blank if an order is known only from the chain of its delivery.
const creation = "createdSrcEventMetadata"

var swapRecordRules = join(
	each(free, "tokenIn/metadata/logoURI tokenOut/metadata/logoURI affiliateFee/affiliateFee/metadata/logoURI"),
	each(ownMember, "state grossTokenOut protocolFee referralCode blockNumber blockHash"),
)

// countRules apply to daily and all-time statistics.
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

// estimationRules apply to a swap without its transaction: venues and gas differ between any two servers.
var estimationRules = join(
	each(free, "estimatedTransactionFee comparedAggregators recommendedSlippage protocolFeeApproximateUsdValue"),
	each(quantity, `tokenIn/amount tokenIn/approximateUsdValue tokenOut/amount tokenOut/minAmount tokenOut/approximateUsdValue
		protocolFee costsDetails/*/amountIn costsDetails/*/amountOut costsDetails/*/payload/feeAmount`),
	rules{"costsDetails": {rows, "type"}},
)

// problemRules apply to errors: message and request id are each server's own, and few of the numbers are published.
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
