package sandbox

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/solana"
	"crossgate/sandbox/venues"
)

// proposal is what a maker offers.
type proposal struct {
	maker      Account
	giveChain  chain.ID
	giveToken  Token
	giveAmount *big.Int // gross: fees are deducted from it
	takeChain  chain.ID
	takeToken  []byte
	takeAmount *big.Int

	receiver          []byte
	authority         []byte // may cancel, on the take chain
	allowedTaker      []byte
	cancelBeneficiary []byte
	externalCall      []byte
	affiliate         *affiliate
	referral          uint32
	// preswap is what the public router swaps into the give token first; EVM chains only.
	preswap *preswap
	// salt replaces the maker's counter. Zero uses the counter, and the order then carries no metadata.
	salt     uint64
	metadata []byte
	// way is how the creating transaction is sent, and payer pays for it instead of the maker; both on Solana only.
	way   solana.Way
	payer Account
}

// newProposal returns a maker's offer to itself on the other chain.
func newProposal(
	maker Account, salt uint64, give Token, giveAmount *big.Int, take Token, takeAmount *big.Int,
) proposal {
	return proposal{
		maker:     maker,
		giveChain: give.Chain, giveToken: give, giveAmount: giveAmount,
		takeChain: take.Chain, takeToken: take.raw(), takeAmount: takeAmount,
		receiver: maker.on(take.Chain), authority: maker.on(take.Chain),
		salt: salt, metadata: orderMetadata(takeAmount),
	}
}

type affiliate struct {
	beneficiary []byte
	amount      *big.Int
}

// orderCreation is the creation tuple, whose fields are in another order than those of the order itself.
type orderCreation struct {
	GiveTokenAddress            common.Address
	GiveAmount                  *big.Int
	TakeTokenAddress            []byte
	TakeAmount                  *big.Int
	TakeChainId                 *big.Int //nolint:revive // the tuple's name
	ReceiverDst                 []byte
	GivePatchAuthoritySrc       common.Address
	OrderAuthorityAddressDst    []byte
	AllowedTakerDst             []byte
	ExternalCall                []byte
	AllowedCancelBeneficiarySrc []byte
}

// preswap is an amount of a token to swap.
type preswap struct {
	in     Token
	amount *big.Int
}

// create creates orders of one maker on one chain in one transaction.
func (w *World) create(ctx context.Context, at time.Time, proposals ...proposal) ([]Order, error) {
	if proposals[0].giveChain == chain.Solana {
		return w.solana.create(at, proposals...)
	}
	c, err := w.known(proposals[0].giveChain)
	if err != nil {
		return nil, err
	}
	sent := proposals[0].creation(c)
	if proposals[0].preswap != nil {
		sent = proposals[0].swappedCreation(c)
	}
	if len(proposals) > 1 {
		var calls []call
		for _, p := range proposals {
			if !p.giveToken.isCoin() {
				calls = append(calls, pull(p.giveToken.Address, p.maker, p.giveAmount))
			}
			calls = append(calls, p.creation(c))
		}
		sent = together(calls...)
	}
	receipts, err := c.execute(ctx, at, sent)
	if err != nil {
		return nil, fmt.Errorf("create order: %w", err)
	}
	orders, err := ordersOf(receipts)
	if err == nil && len(orders) != len(proposals) {
		err = fmt.Errorf("creation of %d orders announced %d", len(proposals), len(orders))
	}
	return orders, err
}

// creation returns the call that creates the proposal's order.
func (p proposal) creation(c *Chain) call {
	value := c.coin().units(fixedFees[c.Facts.ID])
	if p.giveToken.isCoin() {
		value.Add(value, p.giveAmount)
	}
	creation := orderCreation{
		GiveTokenAddress: p.giveToken.Address, GiveAmount: p.giveAmount,
		TakeTokenAddress: p.takeToken, TakeAmount: p.takeAmount,
		TakeChainId: new(big.Int).SetUint64(uint64(p.takeChain)),
		ReceiverDst: p.receiver, GivePatchAuthoritySrc: p.maker.Address, OrderAuthorityAddressDst: p.authority,
		AllowedTakerDst: p.allowedTaker, ExternalCall: p.externalCall, AllowedCancelBeneficiarySrc: p.cancelBeneficiary,
	}
	var fee, noPermit []byte
	if p.affiliate != nil {
		fee = slices.Concat(p.affiliate.beneficiary, common.BigToHash(p.affiliate.amount).Bytes())
	}
	data := contracts.DlnSource.Pack("createSaltedOrder", creation, p.salt, fee, p.referral, noPermit, p.metadata)
	if p.salt == 0 {
		data = contracts.DlnSource.Pack("createOrder", creation, fee, p.referral, noPermit)
	}
	return call{p.maker, c.dlnSource(), value, data}
}

// swappedCreation returns a call of the public router that swaps another token into the give token and creates the
// order. Any surplus of the swap returns to the maker.
func (p proposal) swappedCreation(c *Chain) call {
	in, amountIn := p.preswap.in.Address, p.preswap.amount
	venue := common.HexToAddress(venues.Routers("kyberswap", c.Facts.Native)[0])
	swap := venues.RouterOrder{
		TokenIn: in, TokenOut: p.giveToken.Address, AmountIn: amountIn, MinAmountOut: p.giveAmount,
		Recipient: c.router(),
		Plan:      venues.Plan{Pools: []common.Address{c.wrappedPool().Address}, Deadline: forever()},
	}
	created := p.creation(c)
	if p.preswap.in.isCoin() {
		created.value.Add(created.value, amountIn)
	}
	data := contracts.DeBridgeRouter.Pack("strictlySwapAndCall", in, amountIn, []byte{}, venue, swap.Calldata(),
		p.giveToken.Address, p.giveAmount, p.maker.Address, c.dlnSource(), created.data)
	return call{p.maker, c.router(), created.value, data}
}

// forever returns a deadline that never passes, so that calldata is the same at every start.
func forever() *big.Int { return big.NewInt(math.MaxInt64) }

// together combines calls of one account into one, by a contract that makes them in turn if there are several.
func together(calls ...call) call {
	if len(calls) == 1 {
		return calls[0]
	}
	type innerCall struct {
		To    common.Address
		Value *big.Int
		Data  []byte
	}
	total, inner := new(big.Int), []innerCall(nil)
	for _, c := range calls {
		value := c.value
		if value == nil {
			value = new(big.Int)
		}
		inner = append(inner, innerCall{c.to, value, c.data})
		total.Add(total, value)
	}
	return call{calls[0].from, multiCaller, total, contracts.MultiCaller.Pack("run", inner)}
}

// pull transfers an amount of an account's token to the contract that together uses.
func pull(token common.Address, from Account, amount *big.Int) call {
	return call{from, token, nil, contracts.Token.Pack("transferFrom", from.Address, multiCaller, amount)}
}

func ordersOf(receipts types.Receipts) ([]Order, error) {
	var announced []types.Log
	for _, receipt := range receipts {
		for _, log := range receipt.Logs {
			if slices.Contains(createdTopics(), log.Topics[0]) {
				announced = append(announced, *log)
			}
		}
	}
	return createdIn(announced)
}

// fulfilment says how an order is fulfilled; zero values are the common case.
type fulfilment struct {
	unlockAuthority Account  // zero: the taker
	extra           *big.Int // more than required; EVM only
	// runsCall executes the order's external call in the same transaction, for its reward.
	runsCall bool
	// throughContract sends the fulfilment through a contract, which the event then reports as sender.
	throughContract bool
}

// fulfil delivers what the order takes.
func (w *World) fulfil(ctx context.Context, at time.Time, o Order, taker Account, how fulfilment) error {
	if o.TakeChain() == chain.Solana {
		return w.solana.fulfil(at, o, taker, how)
	}
	c, err := w.known(o.TakeChain())
	if err != nil {
		return err
	}
	sent, err := c.fulfilling(ctx, o, taker, how)
	if err != nil {
		return err
	}
	if _, err := c.execute(ctx, at, sent); err != nil {
		return fmt.Errorf("fulfil order %s: %w", o.ID, err)
	}
	return nil
}

// fulfilling returns the taker's call that delivers what an order takes.
func (c *Chain) fulfilling(ctx context.Context, o Order, taker Account, how fulfilment) (call, error) {
	patches, err := c.read(ctx, contracts.DlnDestination, c.dlnDestination(), "takePatches", o.ID)
	if err != nil {
		return call{}, err
	}
	amount := new(big.Int).Sub(o.terms.TakeAmount, patches[0].(*big.Int))
	if how.extra != nil {
		amount.Add(amount, how.extra)
	}
	authority, reward := how.unlockAuthority.Address, common.Address{}
	if how.unlockAuthority.isNobody() {
		authority = taker.Address
	}
	if how.runsCall {
		reward = taker.Address
	}
	// This is the overload with the external call's reward: the compiler lists it first, so it gets the plain name.
	data := contracts.DlnDestination.Pack("fulfillOrder", o.terms, amount, o.ID, []byte{}, authority, reward)
	token, value := common.BytesToAddress(o.terms.TakeToken), new(big.Int)
	if token == (common.Address{}) {
		value = amount
	}
	sent := call{taker, c.dlnDestination(), value, data}
	if how.throughContract {
		calls := []call{sent}
		if value.Sign() == 0 {
			calls = []call{pull(token, taker, amount), sent}
		}
		sent = together(calls...)
	}
	return sent, nil
}

// sendUnlock sends the unlock of one order, or one message for several orders of the same give chain. beneficiary is an
// address there.
func (w *World) sendUnlock(
	ctx context.Context, at time.Time, taker Account, beneficiary []byte, orders ...Order,
) error {
	if orders[0].TakeChain() == chain.Solana {
		return w.solana.sendUnlock(at, taker, beneficiary, orders)
	}
	data := unlocking(beneficiary, orders)
	if orders[0].GiveChain() == chain.Solana {
		data = unlockingOnSolana(beneficiary, orders)
	}
	return w.transact(ctx, at, orders[0].TakeChain(), taker, (*Chain).dlnDestination, data)
}

// unlocking encodes the call that sends an unlock to an EVM chain.
func unlocking(beneficiary []byte, orders []Order) []byte {
	to := common.BytesToAddress(beneficiary)
	if len(orders) == 1 {
		return contracts.DlnDestination.Pack("sendEvmUnlock", orders[0].ID, to, new(big.Int))
	}
	ids := make([][32]byte, len(orders))
	for i, o := range orders {
		ids[i] = o.ID
	}
	return contracts.DlnDestination.Pack("sendBatchEvmUnlock", ids, to, new(big.Int))
}

// sendCancel cancels an unfulfilled order and sends the cancel to the give chain. beneficiary is an address
// on the give chain.
func (w *World) sendCancel(ctx context.Context, at time.Time, o Order, authority Account, beneficiary []byte) error {
	if o.TakeChain() == chain.Solana {
		return w.solana.sendCancel(at, o, authority, beneficiary)
	}
	refunded := common.BytesToAddress(beneficiary)
	data := contracts.DlnDestination.Pack("sendEvmOrderCancel", o.terms, refunded, new(big.Int))
	if o.GiveChain() == chain.Solana {
		data = contracts.DlnDestination.Pack(
			"sendSolanaOrderCancel", o.terms, [32]byte(beneficiary), new(big.Int), initWalletReward, claimReward)
	}
	return w.transact(ctx, at, o.TakeChain(), authority, (*Chain).dlnDestination, data)
}

// patchGive increases the give amount of an open order.
func (w *World) patchGive(ctx context.Context, at time.Time, o Order, maker Account, addition *big.Int) error {
	if o.GiveChain() == chain.Solana {
		return w.solana.ledger.PatchGive(at, o.ID, maker.Wallet, addition.Uint64())
	}
	data := contracts.DlnSource.Pack("patchOrderGive", o.terms, addition, []byte{})
	return w.transact(ctx, at, o.GiveChain(), maker, (*Chain).dlnSource, data)
}

// patchTake lowers the take amount of an open order by subtrahend in total.
func (w *World) patchTake(ctx context.Context, at time.Time, o Order, authority Account, subtrahend *big.Int) error {
	if o.TakeChain() == chain.Solana {
		return w.solana.ledger.PatchTake(at, o.terms, authority.Wallet, subtrahend.Uint64())
	}
	data := contracts.DlnDestination.Pack("patchOrderTake", o.terms, subtrahend)
	return w.transact(ctx, at, o.TakeChain(), authority, (*Chain).dlnDestination, data)
}

// transact sends a transaction of an account to one of a chain's contracts.
func (w *World) transact(
	ctx context.Context, at time.Time, id chain.ID, by Account, contract func(*Chain) common.Address, data []byte,
) error {
	c, err := w.known(id)
	if err == nil {
		_, err = c.execute(ctx, at, call{by, contract(c), nil, data})
	}
	return err
}
