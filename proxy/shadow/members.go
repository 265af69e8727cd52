package shadow

import "strings"

// kind is what a member is, and so how two of it are compared.
type kind uint8

const (
	exact     kind = iota // the same value
	orderStep             // state of an order
	callStep              // state of an order's external call
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

// rule is the kind of a member.
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
	"/api/Orders/:orderId/state":                 {"": {kind: orderStep}},
	"/api/Orders/:orderId/liteModel":             liteRules,
	"/api/Transaction/:hash/liteModels":          join(rules{"": {rows, "orderId/stringValue"}}, under("*", liteRules)),
	"/api/Orders/filteredList": join(rules{
		"orders": {newest, "orderId/stringValue"}, "totalCount": {kind: drifting},
	}, under("orders/*", offerRules, rules{
		"state": {kind: orderStep}, "externalCallState": {kind: callStep}, "finalPercentFee": {kind: drifting},
		"affiliateFee": {kind: progress}, "unlockAuthorityDst": {kind: progress},
	})),
	"/api/Orders/getForUnlockAuthorities": {
		"orders": {moving, "orderId/stringValue"}, "totalCount": {kind: moving},
	},
	"/api/Transaction/:hash/orderIds": {"orderIds": {rows, "stringValue"}},
	"/v1.0/dln/tx/:hash/order-ids":    {"orderIds": {rows, ""}},
	"/v1.0/dln/order/:orderId":        {"status": {kind: orderStep}, "externalCallState": {kind: callStep}},
	"/v1.0/dln/order/:orderId/status": {"status": {kind: orderStep}, "fulfilledDstEventMetadata": {kind: ownMember}},
	"/api/SameChainSwap/:id/tx/:hash": swapRecordRules,
	"/api/SameChainSwap/:id":          swapRecordRules,
	"/api/Satistics/getDaily":         join(under("dailyData", dailyRules), under("dailyDataCumulative", dailyRules)),
	"/api/Satistics/getAllTime":       allTimeRules,
	"/api/Satistics/:takerAddress/lockedAssets": {
		"":                                       {moving, "chainId/stringValue"},
		"*/lockedTokens":                         {moving, "tokenAddress/stringValue"},
		"*/lockedTokens/*/amount":                {kind: quantity},
		"*/lockedTokens/*/tokenAmount":           {kind: quantity},
		"*/lockedTokens/*/tokenMetadata/logoURI": {kind: free},
		"*/lockedTokens/*/dstChainsLockedAmounts":                       {moving, "targetChainId/stringValue"},
		"*/lockedTokens/*/dstChainsLockedAmounts/*/dstChainAmount":      {kind: quantity},
		"*/lockedTokens/*/dstChainsLockedAmounts/*/dstChainTokenAmount": {kind: quantity},
		"*/lockedTokens/*/dstChainsLockedAmounts/*/ordersToUnlock":      {moving, "stringValue"},
	},
	"/v1.0/chain/transaction":     join(estimationRules, rules{"tx": {kind: free}}),
	"/v1.0/chain/estimation":      under("estimation", estimationRules),
	"/v1.0/supported-chains-info": {"chains": {rows, "chainId"}, "chains/*": {kind: ownMember}},
	"/v1.0/supported-chains":      {"chains": {rows, ""}, "chains/*": {kind: ownMember}},
	"/v1.0/token-list": {
		"tokens": {kind: selection}, "tokens/*/logoURI": {kind: free}, "tokens/*/tags": {kind: free}, "tokens/*/eip2612": {kind: free},
		"tokens/*/isNative": {kind: exact},
	},
	"/v1.0/token-list/search": {"tokens": {kind: free}},
}

var liteRules = rules{
	"state": {kind: orderStep}, "externalCallState": {kind: callStep}, "creationTimestamp": {kind: progress},
	"rawOrderMetadataHex": {kind: progress}, "orderFulfilledTransactionHash": {kind: progress},
}

// offerRules are of what an order gives and takes. A maker can give more and take less, never the other way.
var offerRules = join(rules{
	"giveOfferWithMetadata/finalAmount":      {kind: drifting},
	"giveOfferWithMetadata/logoURI":          {kind: free},
	"giveOfferWithMetadata/metadata/logoURI": {kind: free},
	"takeOfferWithMetadata/finalAmount":      {kind: drifting},
	"takeOfferWithMetadata/logoURI":          {kind: free},
	"takeOfferWithMetadata/metadata/logoURI": {kind: free},
	"preswapData":                            {kind: progress},
	"preswapData/tokenInLogoURI":             {kind: free},
	"preswapData/tokenOutLogoURI":            {kind: free},
	"preswapData/tokenInMetadata/logoURI":    {kind: free},
	"preswapData/tokenOutMetadata/logoURI":   {kind: free},
	"orderMetadata":                          {kind: progress},
}, under("orderMetadata", rules{
	"rawMetadataHex": {}, "version": {}, "creationProcessType": {}, "origin": {}, "additionalTakerIncentiveBps": {},
	"operatingExpensesAmount": {}, "recommendedTakeAmount": {}, "metadata": {}, "promotionType": {}, "orderTradeType": {},
}))

var orderRules = join(offerRules, rules{
	"state": {kind: orderStep}, "externalCallState": {kind: callStep}, "externalCallData": {kind: progress},

	"referralCode": {kind: progress}, "percentFee": {kind: progress}, "finalPercentFee": {kind: drifting}, "fixFee": {kind: progress},
	"affiliateFee": {kind: progress}, creation: {kind: progress}, creation + "/initiator": {kind: progress},

	"actualFulfillAmount": {kind: progress}, "unlockBeneficiarySrc": {kind: progress}, "cancelBeneficiarySrc": {kind: progress},
	"taker": {kind: progress}, "unlockAuthorityDst": {kind: progress}, "fulfilledDstEventMetadata": {kind: progress},
	"sentUnlockDstEventInfo": {kind: progress}, "claimedUnlockSrcEventInfo": {kind: progress},
	"orderCancelledDstEventMetadata": {kind: progress}, "sentOrderCancelDstEventInfo": {kind: progress},
	"claimedOrderCancelSrcEventInfo": {kind: progress},
})

// creation is the member that is blank where an order is known from the chain of its delivery alone.
const creation = "createdSrcEventMetadata"

var swapRecordRules = rules{
	"tokenIn/metadata/logoURI":                   {kind: free},
	"tokenOut/metadata/logoURI":                  {kind: free},
	"affiliateFee/affiliateFee/metadata/logoURI": {kind: free},
	"state": {kind: ownMember}, "grossTokenOut": {kind: ownMember}, "protocolFee": {kind: ownMember},
	"referralCode": {kind: ownMember}, "blockNumber": {kind: ownMember}, "blockHash": {kind: ownMember},
}

var dailyRules = rules{
	"":                       {moving, "giveChainId/stringValue takeChainId/stringValue date"},
	"*/createdOrdersCount":   {kind: drifting},
	"*/fulfilledOrdersCount": {kind: drifting},
	"*/uniqueOrderCreators":  {kind: drifting},
	"*/newOrderCreators":     {kind: drifting},
	"*/totalAmountGivenUsd":  {kind: quantity},
	"*/totalAmountTakenUsd":  {kind: quantity},
	"*/totalProtocolFeeUsd":  {kind: quantity},
	"*/unpricedOrdersCount":  {kind: ownMember},
}

var allTimeRules = rules{
	"createdOrdersCount": {kind: drifting}, "fulfilledOrdersCount": {kind: drifting}, "uniqueOrderCreators": {kind: drifting},
	"totalAmountGivenUsd": {kind: quantity}, "totalAmountTakenUsd": {kind: quantity}, "totalProtocolFeeUsd": {kind: quantity},
	"totalAffiliateFeeUsd": {kind: quantity}, "activeOrdersCount": {kind: moving},
	"date": {kind: free}, "unpricedOrdersCount": {kind: ownMember},
}

// estimationRules are of a swap without its transaction: venues and gas differ between any two servers.
var estimationRules = rules{
	"estimatedTransactionFee": {kind: free}, "comparedAggregators": {kind: free}, "recommendedSlippage": {kind: free},
	"tokenIn/amount": {kind: quantity}, "tokenIn/approximateUsdValue": {kind: quantity},
	"tokenOut/amount": {kind: quantity}, "tokenOut/minAmount": {kind: quantity}, "tokenOut/approximateUsdValue": {kind: quantity},
	"protocolFee": {kind: quantity}, "protocolFeeApproximateUsdValue": {kind: quantity},
	"costsDetails": {rows, "type"}, "costsDetails/*/amountIn": {kind: quantity}, "costsDetails/*/amountOut": {kind: quantity},
	"costsDetails/*/payload/feeAmount": {kind: quantity},
}

// problemRules are of an error: its words and request id are each server's own, and few of its numbers are published.
var problemRules = rules{
	"message": {kind: free}, "errorMessage": {kind: free}, "reqId": {kind: free}, "errorCode": {kind: free}, "errorId": {kind: exact},
}

// join returns all of some rules.
func join(all ...rules) rules {
	joined := rules{}
	for _, each := range all {
		for path, r := range each {
			joined[path] = r
		}
	}
	return joined
}

// under returns rules of what stands below a path.
func under(path string, all ...rules) rules {
	moved := rules{}
	for below, r := range join(all...) {
		moved[strings.TrimSuffix(path+"/"+below, "/")] = r
	}
	return moved
}
