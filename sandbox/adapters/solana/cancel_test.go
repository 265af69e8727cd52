package solana_test

import (
	"errors"
	"fmt"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
	sandbox "crossgate/sandbox/solana"
)

// termsOf converts an order's terms to the gateway's.
func termsOf(t sandbox.Terms) order.Terms {
	give, take := t.Give(), t.Take()
	return order.Terms{
		Nonce: t.Nonce, Maker: chain.NewAddress(t.Maker),
		Give:     order.Offer{Chain: chain.ID(give.Chain), Token: chain.NewAddress(give.Token), Amount: chain.AmountFromBytes(give.Amount.Bytes())},
		Take:     order.Offer{Chain: chain.ID(take.Chain), Token: chain.NewAddress(take.Token), Amount: chain.AmountFromBytes(take.Amount.Bytes())},
		Receiver: chain.NewAddress(t.Receiver), ExternalCall: t.ExternalCall,
		Authorities: order.Authorities{
			GivePatch: chain.NewAddress(t.PatchAuthority), Order: chain.NewAddress(t.Authority),
			AllowedTaker: chain.NewAddress(t.AllowedTaker), CancelBeneficiary: chain.NewAddress(t.CancelBeneficiary),
		},
	}
}

// TestCancelOnSolana proves that the authority can sign and send the transaction, also for orders with every option.
func TestCancelOnSolana(t *testing.T) {
	for name, change := range map[string]func(*sandbox.Terms){
		"an order": func(*sandbox.Terms) {},
		"all that an order can have": func(t *sandbox.Terms) {
			t.ExternalCall, t.AllowedTaker, t.CancelBeneficiary = []byte("call"), taker.Key[:], onEVM
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := w.chain()
			asked := w.terms(nil)
			change(&asked)
			terms, id := termsOf(asked), order.ID(asked.ID())
			tx := must.Get(c.Cancel(t.Context(), id, terms))(t)
			if tx.Sender != terms.Authorities.Order {
				t.Errorf("%s is to send it, want the authority", tx.Sender)
			}
			w.signedBy(t, other, tx.Data)
			if stored := must.Get(c.TakeStates(t.Context(), []order.ID{id}))(t); stored[0].State != order.StateSentOrderCancel {
				t.Errorf("the order is %v after it", stored[0].State)
			}
			if _, err := c.Cancel(t.Context(), id, terms); !errors.Is(err, creation.ErrCancelled) {
				t.Errorf("a second time: %v", err)
			}
			poor := sandbox.NewAccount("poor", [32]byte{9})
			w.Fund(poor.Key, 14_000_000, 0) // less than the message costs
			asked.Nonce, asked.Authority = asked.Nonce+1, poor.Key[:]
			must.Get(c.Cancel(t.Context(), order.ID(asked.ID()), termsOf(asked)))(t)
		})
	}
}

// TestCancelOnSolanaIsRefused covers filled orders, and refusals by the program.
func TestCancelOnSolanaIsRefused(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	filled := w.terms(nil)
	w.deliver(sandbox.Way{}, filled)
	if _, err := c.Cancel(t.Context(), order.ID(filled.ID()), termsOf(filled)); !errors.Is(err, creation.ErrFulfilled) {
		t.Errorf("of a filled order: %v", err)
	}
	open := w.terms(nil)
	changed := termsOf(open)
	changed.Give.Chain = 999
	if _, err := c.Cancel(t.Context(), order.ID(open.ID()), changed); err == nil {
		t.Error("an order from a chain that the program does not know can be cancelled")
	}
}

// TestCallsAreCancelledOnSolana proves that the authority can sign and send the transaction, and gets what was delivered.
func TestCallsAreCancelledOnSolana(t *testing.T) {
	for name, taken := range map[string]sandbox.Key{
		"the coin": sandbox.Native.Mint, "a token": usdc.Mint, "a token of the newer program": sandbox.Tokens[3].Mint,
	} {
		w := newWorld(t)
		c := w.chain()
		made := w.terms([]byte("call"))
		made.TakeToken = taken[:]
		id, terms := order.ID(made.ID()), termsOf(made)
		if _, err := c.CancelCall(t.Context(), id, terms); !errors.Is(err, creation.ErrCallNotOpen) {
			t.Errorf("%s, before its delivery: %v", name, err)
		}
		w.deliver(sandbox.Way{}, made)
		anothers := terms
		anothers.Authorities.Order = chain.NewAddress(taker.Key[:])
		if _, err := c.CancelCall(t.Context(), id, anothers); !errors.Is(err, quote.ErrReverted) {
			t.Errorf("%s, by another: %v", name, err)
		}
		before := must.Get(c.Balance(t.Context(), terms.Take.Token, terms.Authorities.Order))(t)
		tx := must.Get(c.CancelCall(t.Context(), id, terms))(t)
		w.signedBy(t, other, tx.Data)
		after := must.Get(c.Balance(t.Context(), terms.Take.Token, terms.Authorities.Order))(t)
		fees := uint64(0)
		if taken == sandbox.Native.Mint {
			fees = 100_000 // lamports, at most
		}
		if got, _ := after.Sub(before).Uint64(); tx.Sender != terms.Authorities.Order || got > 990_000 || got < 990_000-fees {
			t.Errorf("%s: %s is to send it and gets %d", name, tx.Sender, got)
		}
		if _, err := c.CancelCall(t.Context(), id, terms); !errors.Is(err, creation.ErrCallNotOpen) {
			t.Errorf("%s, a second time: %v", name, err)
		}
	}
}

// TestCallsThatRanAreNotCancelledOnSolana unlike those that have only begun.
func TestCallsThatRanAreNotCancelledOnSolana(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	for call, want := range map[string]error{"": creation.ErrNoCall, "begun": nil, "done": creation.ErrCallExecuted} {
		made := w.terms([]byte(call))
		w.deliver(sandbox.Way{}, made)
		if call != "" {
			must.Do(t, w.ExecuteCall(w.later(), made, taker, call == "done"))
		}
		if _, err := c.CancelCall(t.Context(), order.ID(made.ID()), termsOf(made)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", call, err, want)
		}
	}
}

// unlockOf returns a taker's request after some deliveries.
func (w *world) unlockOf(delivered ...sandbox.Terms) creation.Unlock {
	w.t.Helper()
	var orders []*order.Order
	for _, terms := range delivered {
		orders = append(orders, &order.Order{
			ID: terms.ID(), Terms: termsOf(terms), State: order.StateFulfilled,
			Fulfilled: &order.Seen[order.Fulfilled]{Fact: order.Fulfilled{UnlockAuthority: chain.NewAddress(taker.Key[:])}},
		})
	}
	return must.Get(creation.NewUnlock(orders, chain.NewAddress(onEVM)))(w.t)
}

// TestUnlockOnSolana proves that the taker can sign and send the transaction, for one order and for large batches.
func TestUnlockOnSolana(t *testing.T) {
	for _, count := range []int{1, 2, 10} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			w := newWorld(t)
			c := w.chain()
			var delivered []sandbox.Terms
			for range count {
				delivered = append(delivered, w.terms(nil))
				w.deliver(sandbox.Way{}, delivered[len(delivered)-1])
			}
			u := w.unlockOf(delivered...)
			tx := must.Get(c.Unlock(t.Context(), u))(t)
			if fee, _ := tx.Value.Uint64(); tx.Sender != u.Authority || fee != 15_000_000 {
				t.Errorf("%s is to send it with a fee of %d, want the authority and the gate's", tx.Sender, fee)
			}
			w.signedBy(t, taker, tx.Data)
			for _, stored := range must.Get(c.TakeStates(t.Context(), u.IDs))(t) {
				if stored.State != order.StateSentUnlock {
					t.Errorf("an order is %v after it", stored.State)
				}
			}
			for _, id := range u.IDs {
				if sent := must.Get(w.Message(id))(t); sent.To != 1 || len(sent.Data) == 0 {
					t.Errorf("message %+v", sent)
				}
			}
			if _, err := c.Unlock(t.Context(), u); !errors.Is(err, creation.ErrNotOwed) {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

// TestUnlockOnSolanaIsRefused covers undelivered orders, another taker's deliveries, and a chain without messages.
func TestUnlockOnSolanaIsRefused(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	open, delivered := w.terms(nil), w.terms(nil)
	w.deliver(sandbox.Way{}, delivered)
	anothers, elsewhere := w.unlockOf(delivered), w.unlockOf(delivered)
	anothers.Authority, elsewhere.Terms[0].Give.Chain = chain.NewAddress(other.Key[:]), 999
	for name, test := range map[string]struct {
		asked creation.Unlock
		want  error
	}{
		"not delivered": {w.unlockOf(delivered, open), creation.ErrNotOwed}, "another's": {anothers, quote.ErrReverted},
		"to a chain without messages": {elsewhere, creation.ErrNoMessages},
	} {
		if _, err := c.Unlock(t.Context(), test.asked); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}
