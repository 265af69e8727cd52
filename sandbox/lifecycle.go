package sandbox

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/solana"
)

// proposal is what a maker offers.
type proposal struct {
	maker      Account
	giveChain  chain.ID
	giveToken  Token
	giveAmount *big.Int // gross: the fees go off it
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
	// salt replaces the maker's counter; zero uses the counter and carries no metadata.
	salt     uint64
	metadata []byte
	// way is how the creating transaction travels, and payer who pays for it if not the maker; both on
	// Solana only.
	way   solana.Way
	payer Account
}

type affiliate struct {
	beneficiary []byte
	amount      *big.Int
}

// orderCreation is the creation tuple, whose sequence differs from the order's.
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

// innerCall is one call of a MultiCaller.
type innerCall struct {
	To    common.Address
	Value *big.Int
	Data  []byte
}

// create makes one order in a transaction of its own.
func (w *World) create(ctx context.Context, at time.Time, p proposal) (Order, error) {
	if p.giveChain == chain.Solana {
		return first(w.solana.create(at, p))
	}
	c, err := w.known(p.giveChain)
	if err != nil {
		return Order{}, err
	}
	value, data := p.creation(c)
	receipts, err := c.execute(ctx, at, call{p.maker, c.dlnSource(), value, data})
	if err != nil {
		return Order{}, fmt.Errorf("create order: %w", err)
	}
	orders, err := ordersOf(receipts)
	if err != nil || len(orders) != 1 {
		return Order{}, fmt.Errorf("creation announced %d orders: %w", len(orders), err)
	}
	return orders[0], nil
}

// createTogether makes several orders of one maker on one chain in one transaction.
func (w *World) createTogether(ctx context.Context, at time.Time, proposals ...proposal) ([]Order, error) {
	maker := proposals[0].maker
	if proposals[0].giveChain == chain.Solana {
		return w.solana.create(at, proposals...)
	}
	c, err := w.known(proposals[0].giveChain)
	if err != nil {
		return nil, err
	}
	total := new(big.Int)
	var calls []innerCall
	for _, p := range proposals {
		value, data := p.creation(c)
		if !p.giveToken.isCoin() {
			pull := contracts.Token.Pack("transferFrom", maker.Address, multiCaller, p.giveAmount)
			calls = append(calls, innerCall{p.giveToken.Address, new(big.Int), pull})
		}
		calls = append(calls, innerCall{c.dlnSource(), value, data})
		total.Add(total, value)
	}
	receipts, err := c.execute(ctx, at, call{maker, multiCaller, total, contracts.MultiCaller.Pack("run", calls)})
	if err != nil {
		return nil, fmt.Errorf("create orders together: %w", err)
	}
	return ordersOf(receipts)
}

// creation is the value and the data of the proposal's creating call.
func (p proposal) creation(c *Chain) (*big.Int, []byte) {
	value := c.coin().units(fixedFees[c.Facts.ID])
	if p.giveToken.isCoin() {
		value.Add(value, p.giveAmount)
	}
	creation := orderCreation{
		GiveTokenAddress: p.giveToken.Address, GiveAmount: p.giveAmount,
		TakeTokenAddress: p.takeToken, TakeAmount: p.takeAmount, TakeChainId: new(big.Int).SetUint64(uint64(p.takeChain)),
		ReceiverDst: p.receiver, GivePatchAuthoritySrc: p.maker.Address, OrderAuthorityAddressDst: p.authority,
		AllowedTakerDst: p.allowedTaker, ExternalCall: p.externalCall, AllowedCancelBeneficiarySrc: p.cancelBeneficiary,
	}
	var fee []byte
	if p.affiliate != nil {
		fee = slices.Concat(p.affiliate.beneficiary, common.BigToHash(p.affiliate.amount).Bytes())
	}
	var noPermit []byte
	if p.salt == 0 {
		return value, contracts.DlnSource.Pack("createOrder", creation, fee, p.referral, noPermit)
	}
	return value, contracts.DlnSource.Pack("createSaltedOrder", creation, p.salt, fee, p.referral, noPermit, p.metadata)
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

// fulfilment says how an order is fulfilled; the zero values are the common way.
type fulfilment struct {
	unlockAuthority Account  // nobody: the taker
	extra           *big.Int // more than asked for; EVM only
	// runsCall executes the order's external call at once, for its reward.
	runsCall bool
	// throughRouter sends it through a contract, which the event then names as sender.
	throughRouter bool
}

// fulfil delivers what the order asks for.
func (w *World) fulfil(ctx context.Context, at time.Time, o Order, taker Account, how fulfilment) error {
	if o.TakeChain() == chain.Solana {
		return w.solana.fulfil(at, o, taker, how)
	}
	c, err := w.known(o.TakeChain())
	if err != nil {
		return err
	}
	patches, err := c.read(ctx, contracts.DlnDestination, c.dlnDestination(), "takePatches", o.ID)
	if err != nil {
		return err
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
	// The overload with the external call's reward: the compiler lists it first, so the name is plainly its.
	data := contracts.DlnDestination.Pack("fulfillOrder", o.terms, amount, o.ID, []byte{}, authority, reward)
	token, value := common.BytesToAddress(o.terms.TakeTokenAddress), new(big.Int)
	if token == (common.Address{}) {
		value = amount
	}
	sent := call{taker, c.dlnDestination(), value, data}
	if how.throughRouter {
		var calls []innerCall
		if value.Sign() == 0 {
			calls = append(calls, innerCall{token, value, contracts.Token.Pack("transferFrom", taker.Address, multiCaller, amount)})
		}
		calls = append(calls, innerCall{c.dlnDestination(), value, data})
		sent = call{taker, multiCaller, value, contracts.MultiCaller.Pack("run", calls)}
	}
	if _, err := c.execute(ctx, at, sent); err != nil {
		return fmt.Errorf("fulfil order %s: %w", o.ID, err)
	}
	return nil
}

// sendUnlock sends the unlock of one order, or one message for several of the same give chain.
// beneficiary is an address there.
func (w *World) sendUnlock(ctx context.Context, at time.Time, taker Account, beneficiary []byte, orders ...Order) error {
	if orders[0].TakeChain() == chain.Solana {
		return w.solana.sendUnlock(at, taker, beneficiary, orders)
	}
	c, err := w.known(orders[0].TakeChain())
	if err != nil {
		return err
	}
	data := unlocking(beneficiary, orders)
	if orders[0].GiveChain() == chain.Solana {
		data = unlockingOnSolana(beneficiary, orders)
	}
	if _, err := c.execute(ctx, at, call{taker, c.dlnDestination(), nil, data}); err != nil {
		return fmt.Errorf("send unlock: %w", err)
	}
	return nil
}

// unlocking is the call that sends an unlock to an EVM chain.
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

// sendCancel cancels an order that nobody has fulfilled and sends word of it. beneficiary is an address
// on the give chain.
func (w *World) sendCancel(ctx context.Context, at time.Time, o Order, authority Account, beneficiary []byte) error {
	if o.TakeChain() == chain.Solana {
		return w.solana.sendCancel(at, o, authority, beneficiary)
	}
	c, err := w.known(o.TakeChain())
	if err != nil {
		return err
	}
	data := contracts.DlnDestination.Pack("sendEvmOrderCancel", o.terms, common.BytesToAddress(beneficiary), new(big.Int))
	if o.GiveChain() == chain.Solana {
		data = contracts.DlnDestination.Pack("sendSolanaOrderCancel", o.terms, [32]byte(beneficiary), new(big.Int), initWalletReward, claimReward)
	}
	if _, err := c.execute(ctx, at, call{authority, c.dlnDestination(), nil, data}); err != nil {
		return fmt.Errorf("cancel order %s: %w", o.ID, err)
	}
	return nil
}

// patchGive adds to what an open order gives.
func (w *World) patchGive(ctx context.Context, at time.Time, o Order, maker Account, addition *big.Int) error {
	c, err := w.known(o.GiveChain())
	if err != nil {
		return err
	}
	data := contracts.DlnSource.Pack("patchOrderGive", o.terms, addition, []byte{})
	if _, err := c.execute(ctx, at, call{maker, c.dlnSource(), nil, data}); err != nil {
		return fmt.Errorf("patch give amount of order %s: %w", o.ID, err)
	}
	return nil
}

// patchTake lowers what an open order takes by subtrahend in all.
func (w *World) patchTake(ctx context.Context, at time.Time, o Order, authority Account, subtrahend *big.Int) error {
	c, err := w.known(o.TakeChain())
	if err != nil {
		return err
	}
	data := contracts.DlnDestination.Pack("patchOrderTake", o.terms, subtrahend)
	if _, err := c.execute(ctx, at, call{authority, c.dlnDestination(), nil, data}); err != nil {
		return fmt.Errorf("patch take amount of order %s: %w", o.ID, err)
	}
	return nil
}
