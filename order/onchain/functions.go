package onchain

import (
	"crossgate/chain"
	"crossgate/order"
)

// role is a contract's role in the protocol.
type role struct {
	name    string
	address func(chain.Contracts) chain.Address
}

// The contracts whose functions are known.
var (
	dlnSource      = role{"DlnSource", source}
	dlnDestination = role{"DlnDestination", destination}
	deBridgeGate   = role{"DeBridgeGate", gate}
	deBridgeRouter = role{"DeBridgeRouter", router}
	callAdapter    = role{"DlnExternalCallAdapter", adapter}
)

func gate(c chain.Contracts) chain.Address { return c.Gate }

// parameter is a parameter of a function, or a member of one, with what it means.
type parameter struct {
	name string // in the words of the contract's source; empty: not public
	abi  string // type; tuple and tuple[] have members
	kind order.ArgumentKind

	on string // the parameter with the chain that an account or a token is on; empty: the transaction's
	of string // the parameter with the token that an amount is of, or with the contract that a call is of; empty: none
	to *role  // the contract that a call is of where no parameter names it

	members []parameter
	within  []parameter                       // of bytes that are a struct by themselves, in the ABI's encoding
	packed  func(raw []byte) []order.Argument // of bytes that hold several things without any encoding; nil: none
}

func token(abi, name, on string) parameter {
	return parameter{name: name, abi: abi, kind: order.TokenArgument, on: on}
}

func account(abi, name, on string) parameter {
	return parameter{name: name, abi: abi, kind: order.AccountArgument, on: on}
}

func amountOf(name, of string) parameter {
	return parameter{name: name, abi: "uint256", kind: order.AmountArgument, of: of}
}

func number(abi, name string) parameter {
	return parameter{name: name, abi: abi, kind: order.NumberArgument}
}

func chainOf(name string) parameter {
	return parameter{name: name, abi: "uint256", kind: order.ChainArgument}
}

func identifier(name string) parameter {
	return parameter{name: name, abi: "bytes32", kind: order.HashArgument}
}

func identifiers(name string) parameter {
	return parameter{name: name, abi: "bytes32[]", kind: order.MembersArgument, members: []parameter{identifier("")}}
}

func raw(name string) parameter { return parameter{name: name, abi: "bytes"} }

// callOf is calldata for the contract that another parameter names.
func callOf(name, contract string) parameter {
	return parameter{name: name, abi: "bytes", of: contract}
}

// unnamed is a parameter with a public type and no public name.
func unnamed(abi string) parameter {
	p := parameter{abi: abi, kind: order.NumberArgument}
	switch abi {
	case "address":
		p.kind = order.AccountArgument
	case "bytes":
		p.kind = order.BytesArgument
	}
	return p
}

func tuple(name string, members []parameter) parameter {
	return parameter{name: name, abi: "tuple", kind: order.MembersArgument, members: members}
}

// creation are the members of OrderCreation (dln-contracts, libraries/DlnOrderLib.sol).
var creation = []parameter{
	token("address", "giveTokenAddress", ""), amountOf("giveAmount", "giveTokenAddress"),
	token("bytes", "takeTokenAddress", "takeChainId"), amountOf("takeAmount", "takeTokenAddress"), chainOf("takeChainId"),
	account("bytes", "receiverDst", "takeChainId"), account("address", "givePatchAuthoritySrc", ""),
	account("bytes", "orderAuthorityAddressDst", "takeChainId"), account("bytes", "allowedTakerDst", "takeChainId"),
	raw("externalCall"), account("bytes", "allowedCancelBeneficiarySrc", ""),
}

// terms are the members of Order (dln-contracts, libraries/DlnOrderLib.sol).
var terms = []parameter{
	number("uint64", "makerOrderNonce"), account("bytes", "makerSrc", "giveChainId"),
	chainOf("giveChainId"), token("bytes", "giveTokenAddress", "giveChainId"), amountOf("giveAmount", "giveTokenAddress"),
	chainOf("takeChainId"), token("bytes", "takeTokenAddress", "takeChainId"), amountOf("takeAmount", "takeTokenAddress"),
	account("bytes", "receiverDst", "takeChainId"), account("bytes", "givePatchAuthoritySrc", "giveChainId"),
	account("bytes", "orderAuthorityAddressDst", "takeChainId"), account("bytes", "allowedTakerDst", "takeChainId"),
	account("bytes", "allowedCancelBeneficiarySrc", "giveChainId"), raw("externalCall"),
}

// affiliateFee is what a creation sets apart of the give amount; see affiliate.
var affiliateFee = parameter{name: "affiliateFee", abi: "bytes", of: "giveTokenAddress", packed: func(raw []byte) []order.Argument {
	fee := affiliate(raw)
	if fee == nil {
		return nil
	}
	return []order.Argument{
		{Name: "beneficiary", Kind: order.AccountArgument, Address: fee.Beneficiary},
		{Name: "amount", Kind: order.AmountArgument, Number: fee.Amount},
	}
}}

// affiliateFeeEnvelope is the affiliate's share of what a swap within a chain brings (DeBridgeRouter, version 3.2.0).
var affiliateFeeEnvelope = parameter{name: "affiliateFeeEnvelope", abi: "bytes", packed: func(raw []byte) []order.Argument {
	const shareLength, length = 2, 22
	if len(raw) != length {
		return nil
	}
	return []order.Argument{
		{Name: "share", Kind: order.ShareArgument, Number: chain.AmountFromBytes(raw[:shareLength])},
		{Name: "recipient", Kind: order.AccountArgument, Address: chain.NewAddress(raw[shareLength:])},
	}
}}

// permitEnvelope is the permit that a contract redeems before it takes a token: amount, deadline and signature.
func permitEnvelope(name, token string) parameter {
	return parameter{name: name, abi: "bytes", of: token, packed: func(raw []byte) []order.Argument {
		const length = 2*wordSize + 65
		if len(raw) != length {
			return nil
		}
		return []order.Argument{
			{Name: "amount", Kind: order.AmountArgument, Number: chain.AmountFromBytes(raw[:wordSize])},
			{Name: "deadline", Kind: order.NumberArgument, Number: chain.AmountFromBytes(raw[wordSize : 2*wordSize])},
			{Name: "signature", Bytes: raw[2*wordSize:]},
		}
	}}
}

// autoParams are what the gate carries out when a message arrives (debridge-contracts-v1, interfaces/IDeBridgeGate.sol,
// SubmissionAutoParamsFrom).
var autoParams = []parameter{
	number("uint256", "executionFee"), number("uint256", "flags"), account("address", "fallbackAddress", ""),
	callOf("data", "receiver"), account("bytes", "nativeSender", "chainIdFrom"),
}

// swapDetails are the members of the last but one argument of the router's swap (DeBridgeRouter, version 3.2.0).
var swapDetails = []parameter{
	account("address", "allowanceAggregator", ""), account("address", "swapRouter", ""), callOf("swapCalldata", "swapRouter"),
	token("address", "tokenOut", ""), amountOf("tokenOutMinAmount", "tokenOut"),
	{name: "surplusShareBps", abi: "uint16", kind: order.ShareArgument},
	affiliateFeeEnvelope, account("address", "recipient", ""),
}

// swapBefore are the members of the router's swap before an order is fulfilled (DeBridgeRouter, version 3.2.0).
var swapBefore = []parameter{
	account("address", "swapRouter", ""), callOf("swapCalldata", "swapRouter"), token("address", "tokenOut", ""),
	amountOf("tokenOutMinAmount", "tokenOut"), account("address", "tokenOutRefundRecipient", ""),
}

// functions are those by which orders are created and taken further: of dln-contracts (DLN/DlnSource.sol,
// DLN/DlnDestination.sol), of debridge-contracts-v1 (transfers/DeBridgeGate.sol) and of the router's public source. Of
// those for intents, since DlnSource 1.5, the types of the parameters are public and not all of their names.
var functions = bySelector(
	newFunction(dlnSource, "createOrder", tuple("creation", creation), affiliateFee, number("uint32", "referralCode"),
		permitEnvelope("permitEnvelope", "giveTokenAddress")),
	newFunction(dlnSource, "createSaltedOrder", tuple("creation", creation), number("uint64", "salt"), affiliateFee,
		number("uint32", "referralCode"), permitEnvelope("permitEnvelope", "giveTokenAddress"), raw("metadata")),
	newFunction(dlnSource, "createSaltedOrderForIntent", tuple("creation", creation), unnamed("address"), unnamed("uint64"),
		unnamed("uint32"), unnamed("uint256"), unnamed("bytes")),
	newFunction(dlnSource, "createSaltedOrderForIntent", tuple("creation", creation), unnamed("uint64"), unnamed("uint32"),
		unnamed("uint256"), unnamed("bytes")),
	newFunction(dlnSource, "patchOrderGive", tuple("order", terms), amountOf("addGiveAmount", "giveTokenAddress"),
		permitEnvelope("permitEnvelope", "giveTokenAddress")),
	newFunction(dlnSource, "withdrawUnclaimedAffiliateFees",
		parameter{name: "tokens", abi: "address[]", kind: order.MembersArgument, members: []parameter{token("address", "", "")}},
		account("address", "beneficiary", "")),
	newFunction(dlnSource, "claimUnlock", identifier("orderId"), account("address", "beneficiary", "")),
	newFunction(dlnSource, "claimBatchUnlock", identifiers("orderIds"), account("address", "beneficiary", "")),
	newFunction(dlnSource, "claimCancel", identifier("orderId"), account("address", "beneficiary", "")),
	newFunction(dlnSource, "claimBatchCancel", identifiers("orderIds"), account("address", "beneficiary", "")),

	newFunction(dlnDestination, "fulfillOrder", tuple("order", terms), amountOf("fulfillAmount", "takeTokenAddress"),
		identifier("orderId"), permitEnvelope("permitEnvelope", "takeTokenAddress"), account("address", "unlockAuthority", "")),
	newFunction(dlnDestination, "fulfillOrder", tuple("order", terms), amountOf("fulfillAmount", "takeTokenAddress"),
		identifier("orderId"), permitEnvelope("permitEnvelope", "takeTokenAddress"), account("address", "unlockAuthority", ""),
		account("address", "externalCallRewardBeneficiary", "")),
	newFunction(dlnDestination, "patchOrderTake", tuple("order", terms), amountOf("newSubtrahend", "takeTokenAddress")),
	newFunction(dlnDestination, "sendEvmUnlock", identifier("orderId"), account("address", "beneficiary", "giveChainId"),
		number("uint256", "executionFee")),
	newFunction(dlnDestination, "sendBatchEvmUnlock", identifiers("orderIds"), account("address", "beneficiary", "giveChainId"),
		number("uint256", "executionFee")),
	newFunction(dlnDestination, "sendSolanaUnlock", tuple("order", terms), account("bytes32", "beneficiary", "giveChainId"),
		number("uint256", "executionFee"), number("uint64", "initWalletReward"), number("uint64", "claimUnlockReward")),
	newFunction(dlnDestination, "sendBatchSolanaUnlock",
		parameter{name: "orders", abi: "tuple[]", kind: order.MembersArgument, members: terms},
		account("bytes32", "beneficiary", "giveChainId"), number("uint256", "executionFee"),
		number("uint64", "initWalletReward"), number("uint64", "claimUnlockReward")),
	newFunction(dlnDestination, "sendEvmOrderCancel", tuple("order", terms), account("address", "cancelBeneficiary", "giveChainId"),
		number("uint256", "executionFee")),
	newFunction(dlnDestination, "sendSolanaOrderCancel", tuple("order", terms), account("bytes32", "cancelBeneficiary", "giveChainId"),
		number("uint256", "executionFee"), number("uint64", "initWalletReward"), number("uint64", "claimCancelReward")),

	newFunction(callAdapter, "executeCall", identifier("orderId"), account("address", "callAuthority", ""),
		token("address", "tokenAddress", ""), amountOf("tokenAmount", "tokenAddress"), raw("externalCall"),
		account("address", "rewardBeneficiary", "")),
	newFunction(callAdapter, "cancelCall", identifier("orderId"), account("address", "callAuthority", ""),
		token("address", "tokenAddress", ""), amountOf("tokenAmount", "tokenAddress"), account("address", "recipient", ""),
		identifier("externalCallHash")),

	newFunction(deBridgeGate, "claim", identifier("debridgeId"), number("uint256", "amount"), chainOf("chainIdFrom"),
		account("address", "receiver", ""), number("uint256", "nonce"), raw("signatures"),
		parameter{name: "autoParams", abi: "bytes", within: autoParams}),

	newFunction(deBridgeRouter, "strictlySwapAndCall", token("address", "tokenIn", ""), amountOf("amountIn", "tokenIn"),
		permitEnvelope("permitEnvelope", "tokenIn"), account("address", "swapRouter", ""), callOf("swapCalldata", "swapRouter"),
		token("address", "tokenOut", ""), amountOf("expectedAmountOut", "tokenOut"),
		account("address", "refundRecipient", ""), account("address", "target", ""), callOf("targetData", "target")),
	newFunction(deBridgeRouter, "swap", token("address", "tokenIn", ""), amountOf("amountIn", "tokenIn"),
		permitEnvelope("tokenInPermitEnvelope", "tokenIn"), tuple("swapDetails", swapDetails), number("uint32", "referralCode")),
	newFunction(deBridgeRouter, "simulateSwap", token("address", "tokenIn", ""), amountOf("amountIn", "tokenIn"),
		account("address", "swapRouter", ""), callOf("swapCalldata", "swapRouter"), token("address", "tokenOut", "")),
	newFunction(deBridgeRouter, "strictlySwapAndCallDln", token("address", "tokenIn", ""), amountOf("amountIn", "tokenIn"),
		permitEnvelope("permitEnvelope", "tokenIn"), tuple("swapDetails", swapBefore), account("address", "target", ""),
		callOf("targetData", "target"), identifier("orderId")),
	newFunction(deBridgeRouter, "fillCrossChain", token("address", "tokenIn", ""), amountOf("amountIn", "tokenIn"),
		tuple("swapDetails", swapBefore), parameter{name: "dlnDestinationCalldata", abi: "bytes", to: &dlnDestination},
		amountOf("maxDlnFulfillAmount", "tokenOut")),
)
