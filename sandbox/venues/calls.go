package venues

import (
	"encoding/binary"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"crossgate/sandbox/contracts"
)

// The venues' own calldata for orders, by the functions of contract VenueRouter. The part that routers pass on unread
// holds the order's plan. Addresses that the sandbox does not need are zero.

// method returns a function of the venues' routers by signature, because some share a name.
func method(signature string) abi.Method {
	for _, m := range contracts.VenueRouter.ABI.Methods {
		if m.Sig == signature {
			return m
		}
	}
	panic("venues: no function " + signature)
}

// packed returns the calldata of a function with arguments of the right types.
func packed(m abi.Method, arguments ...any) []byte {
	data, err := m.Inputs.Pack(arguments...)
	if err != nil {
		panic("venues: call of " + m.Name + ": " + err.Error())
	}
	return append(m.ID[:len(m.ID):len(m.ID)], data...)
}

var (
	kyberRouterSwap = method("swap((address,address,bytes,(address,address,address[],uint256[],address[],uint256[]," +
		"address,uint256,uint256,uint256,bytes),bytes))")
	oneInchRouterSwap   = method("swap(address,(address,address,address,address,uint256,uint256,uint256),bytes)")
	openOceanRouterSwap = method("swap(address,(address,address,address,address,uint256,uint256,uint256,uint256," +
		"address,bytes),(uint256,uint256,uint256,bytes)[])")
	planArgument = abi.Arguments{method("swapOrder((address,address,uint256,uint256,address," +
		"(address[],(address,uint16)[],uint16,uint256)))").Inputs[0]}
)

// planData encodes a plan separately, as the routers pass it on.
func (o RouterOrder) planData() []byte {
	plan := abi.Arguments{{Type: *planArgument[0].Type.TupleElems[5]}}
	data, err := plan.Pack(o.Plan)
	if err != nil {
		panic("venues: plan: " + err.Error())
	}
	return data
}

// spelled returns the order with the coin's address as most venues write it.
func (o RouterOrder) spelled() RouterOrder {
	if o.TokenIn == coin {
		o.TokenIn = coinPlaceholder
	}
	if o.TokenOut == coin {
		o.TokenOut = coinPlaceholder
	}
	return o
}

func kyberCall(o RouterOrder) []byte {
	o = o.spelled()
	return packed(kyberRouterSwap, kyberExecution{
		TargetData: o.planData(),
		Desc: kyberDescription{
			SrcToken: o.TokenIn, DstToken: o.TokenOut, DstReceiver: o.Recipient,
			Amount: o.AmountIn, MinReturnAmount: o.MinAmountOut, Flags: new(big.Int),
		},
	})
}

// kyberExecution is KyberSwap's SwapExecutionParams.
type kyberExecution struct {
	CallTarget, ApproveTarget common.Address
	TargetData                []byte
	Desc                      kyberDescription
	ClientData                []byte
}

// kyberDescription is KyberSwap's SwapDescriptionV2.
type kyberDescription struct {
	SrcToken, DstToken             common.Address
	SrcReceivers                   []common.Address
	SrcAmounts                     []*big.Int
	FeeReceivers                   []common.Address
	FeeAmounts                     []*big.Int
	DstReceiver                    common.Address
	Amount, MinReturnAmount, Flags *big.Int
	Permit                         []byte
}

// veloraData is Velora's GenericData.
type veloraData struct {
	SrcToken, DestToken                common.Address
	FromAmount, ToAmount, QuotedAmount *big.Int
	Metadata                           [32]byte
	Beneficiary                        common.Address
}

// veloraCall takes a minimum before the venue's fee. The fee is packed below the partner's address.
func veloraCall(o RouterOrder, least *big.Int) []byte {
	o = o.spelled()
	fee := big.NewInt(int64(o.Plan.OutputFeeBps))
	partnerAndFee := fee.Or(fee, new(big.Int).Lsh(big.NewInt(1), 96))
	return contracts.VenueRouter.Pack("swapExactAmountIn", common.Address{}, veloraData{o.TokenIn, o.TokenOut, o.AmountIn, least, least, [32]byte{}, o.Recipient}, partnerAndFee, []byte{}, o.planData())
}

func oneInchCall(o RouterOrder) []byte {
	o = o.spelled()
	return packed(oneInchRouterSwap, common.Address{}, struct {
		SrcToken, DstToken, SrcReceiver, DstReceiver common.Address
		Amount, MinReturnAmount, Flags               *big.Int
	}{o.TokenIn, o.TokenOut, common.Address{}, o.Recipient, o.AmountIn, o.MinAmountOut, new(big.Int)}, o.planData())
}

// openOceanDescription is OpenOcean's SwapDescription.
type openOceanDescription struct {
	SrcToken, DstToken, SrcReceiver, DstReceiver     common.Address
	Amount, MinReturnAmount, GuaranteedAmount, Flags *big.Int
	Referrer                                         common.Address
	Permit                                           []byte
}

// openOceanCalled is OpenOcean's CallDescription.
type openOceanCalled struct {
	Target, GasLimit, Value *big.Int
	Data                    []byte
}

func openOceanCall(o RouterOrder) []byte {
	o = o.spelled()
	return packed(openOceanRouterSwap, common.Address{}, openOceanDescription{
		SrcToken: o.TokenIn, DstToken: o.TokenOut, DstReceiver: o.Recipient,
		Amount: o.AmountIn, MinReturnAmount: o.MinAmountOut, GuaranteedAmount: o.MinAmountOut, Flags: new(big.Int),
	}, []openOceanCalled{{new(big.Int), new(big.Int), new(big.Int), o.planData()}})
}

func sushiCall(o RouterOrder) []byte {
	o = o.spelled()
	return contracts.VenueRouter.Pack("snwap",
		o.TokenIn, o.AmountIn, o.Recipient, o.TokenOut, o.MinAmountOut, common.Address{}, o.planData())
}

// zeroExCall returns a call of the allowance holder that contains one of the Settler.
func zeroExCall(o RouterOrder) []byte {
	o = o.spelled()
	inner := packed(abi.NewMethod("execute", "execute", abi.Function, "", false, true, zeroExSettlerInputs, nil), struct {
		Recipient, BuyToken common.Address
		MinAmountOut        *big.Int
	}{o.Recipient, o.TokenOut, o.MinAmountOut}, [][]byte{o.planData()}, [32]byte{})
	return contracts.VenueRouter.Pack("exec", ZeroExSettler, o.TokenIn, o.AmountIn, ZeroExSettler, inner)
}

// ZeroExSettler is the contract that swaps for 0x, and ZeroExRegistry the one that lists it.
var (
	ZeroExSettler  = common.HexToAddress("0x5e771e5e771e5e771e5e771e5e771e5e771e5e77")
	ZeroExRegistry = common.HexToAddress("0x00000000000004533Fe15556B1E086BB1A72cEae")
)

var zeroExSettlerInputs = abi.Arguments{
	{Name: "slippage", Type: newType("tuple", abi.ArgumentMarshaling{Name: "recipient", Type: "address"},
		abi.ArgumentMarshaling{Name: "buyToken", Type: "address"}, abi.ArgumentMarshaling{Name: "minAmountOut", Type: "uint256"})},
	{Name: "actions", Type: newType("bytes[]")},
	{Name: "tag", Type: newType("bytes32")},
}

func newType(name string, members ...abi.ArgumentMarshaling) abi.Type {
	made, err := abi.NewType(name, "", members)
	if err != nil {
		panic("venues: type " + name + ": " + err.Error())
	}
	return made
}

// okxCall appends the shares of the input to the arguments, and swaps the rest.
func okxCall(o RouterOrder) []byte {
	o = o.spelled()
	type path struct {
		MixAdapters, AssetTo []common.Address
		RawData              []*big.Int
		ExtraData            [][]byte
		FromToken            *big.Int
	}
	left, behind := int64(10_000), []byte(nil)
	for i, share := range o.Plan.Shares {
		flag := "3ca20afc2aaa"
		if len(o.Plan.Shares) > 1 {
			flag = "22220afc2aaa"
		}
		word := append(binary.BigEndian.AppendUint64(common.FromHex(flag), uint64(share.Bps)*100_000<<16)[:12], share.Recipient.Bytes()...)
		left -= int64(share.Bps)
		if i == 0 {
			word = append(common.LeftPadBytes(o.TokenIn.Bytes(), 32), word...)
		}
		behind = append(word, behind...)
	}
	swapped := new(big.Int).Mul(o.AmountIn, big.NewInt(left))
	swapped.Div(swapped, big.NewInt(10_000))
	o.Plan.Shares = nil
	return append(contracts.VenueRouter.Pack("dagSwapTo", new(big.Int), o.Recipient, struct {
		FromToken                                  *big.Int
		ToToken                                    common.Address
		FromTokenAmount, MinReturnAmount, DeadLine *big.Int
	}{o.TokenIn.Big(), o.TokenOut, swapped, o.MinAmountOut, o.Plan.Deadline},
		[]path{{ExtraData: [][]byte{o.planData()}, FromToken: o.TokenIn.Big()}}), behind...)
}

// lifiCall uses a different function depending on whether the input or the output is the coin.
func lifiCall(o RouterOrder) []byte {
	name := "swapTokensSingleV3ERC20ToERC20"
	switch {
	case o.TokenIn == coin:
		name = "swapTokensSingleV3NativeToERC20"
	case o.TokenOut == coin:
		name = "swapTokensSingleV3ERC20ToNative"
	}
	return contracts.VenueRouter.Pack(name, [32]byte{}, "sandbox", "", o.Recipient, o.MinAmountOut, struct {
		CallTo, ApproveTo, SendingAssetId, ReceivingAssetId common.Address
		FromAmount                                          *big.Int
		CallData                                            []byte
		RequiresDeposit                                     bool
	}{
		SendingAssetId: o.TokenIn, ReceivingAssetId: o.TokenOut, FromAmount: o.AmountIn, CallData: o.planData(),
		RequiresDeposit: true,
	})
}

func ensoCall(o RouterOrder) []byte {
	type asset struct {
		TokenType uint8
		Data      []byte
	}
	asAsset := func(token common.Address, amount *big.Int) asset {
		word := common.LeftPadBytes(amount.Bytes(), common.HashLength)
		if token == coin {
			return asset{0, word}
		}
		return asset{1, append(common.LeftPadBytes(token.Bytes(), common.HashLength), word...)}
	}
	return contracts.VenueRouter.Pack("safeRouteSingle",
		asAsset(o.TokenIn, o.AmountIn), asAsset(o.TokenOut, o.MinAmountOut), o.Recipient, o.planData())
}

// relayCall lets the router swap to itself, then pay out the minimum, and then any remainder.
func relayCall(o RouterOrder) []byte {
	type call struct {
		Target       common.Address
		AllowFailure bool
		Value        *big.Int
		CallData     []byte
	}
	router, none, payee := common.HexToAddress(relayProxy), new(big.Int), o.Recipient
	if o.TokenIn == coin {
		router = common.HexToAddress(relayRouter)
	}
	swap, value := o, none
	swap.Recipient = router
	pay := contracts.VenueRouter.Pack("cleanupErc20s", []common.Address{o.TokenOut, o.TokenOut},
		[]common.Address{payee, payee}, []*big.Int{o.MinAmountOut, none}, []byte{})
	if o.TokenOut == coin {
		pay = contracts.VenueRouter.Pack("cleanupNative", o.MinAmountOut, payee, []byte{})
	}
	if o.TokenIn == coin {
		value = o.AmountIn
	}
	calls := []call{{router, false, value, swap.Calldata()}, {router, false, none, pay}}
	if o.TokenIn == coin {
		return contracts.VenueRouter.Pack("multicall", calls, payee, common.Address{}, []byte{})
	}
	return contracts.VenueRouter.Pack("transferAndMulticall",
		[]common.Address{o.TokenIn}, []*big.Int{o.AmountIn}, calls, payee, common.Address{}, []byte{})
}
