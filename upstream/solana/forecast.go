package solana

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
)

// Forecast returns what a transaction would create if it ran now, in the sequence of its instructions. It judges them
// by their data and the chain's state, read in two round trips after one for lookup tables, and by a simulation of the
// whole. Signatures are not checked. Anything that cannot be read is unknown. Errors: creation.ErrOtherFunction for a
// transaction that does not call dln_src, creation.ErrMalformed for bytes of another form.
func (c *Chain) Forecast(ctx context.Context, t creation.Transaction) ([]creation.Forecast, error) {
	m, err := solana.Parse(t.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", creation.ErrMalformed, err)
	}
	instructions, lookedUp, err := c.creationsIn(ctx, m)
	if err != nil {
		return nil, err
	}
	states := c.views(ctx, instructions)
	c.enterUse(ctx, instructions, states)
	said, made, accounts := c.probe(ctx, m, t.Data, lookedUp)
	all := make([]creation.Forecast, len(instructions))
	for i, in := range instructions {
		states[i].Executed = said
		all[i] = creation.JudgeOnSolana(in, states[i])
	}
	all = creation.Reconciled(t, all, made)
	var warnings []creation.Warning
	if also := c.besides(m); also != "" {
		warnings = append(warnings, creation.Warning{Code: creation.CallsOthers, Text: "the transaction also calls " + also + ", which is not judged"})
		c.measure(m, instructions, accounts, all)
	}
	if fee := m.PriorityFee(); fee.Cmp(chain.NewAmount(mostFee)) > 0 {
		warnings = append(warnings, creation.Warning{Code: creation.HighPriority, Text: "the transaction pays " + fee.String() + " lamports for priority"})
	}
	for i := range all {
		all[i].Warnings = append(all[i].Warnings, warnings...)
	}
	return all, nil
}

// besides lists the programs whose instructions are not judged, empty if none. Opening a wallet and a memo are
// harmless; other instructions of dln_src are not: they can give more to any order.
func (c *Chain) besides(m solana.Message) string {
	harmless := []chain.Address{solana.ComputeBudgetProgram, solana.AssociatedTokenProgram, solana.MemoProgram}
	var names []string
	for _, in := range m.Instructions {
		program := m.Account(in.Program)
		_, err := onchain.ParseSolanaCreation(in.Data)
		isCreation := program == c.chain.Contracts.DlnSource && !errors.Is(err, onchain.ErrOtherInstruction)
		if name := program.Format(chain.SVM); !isCreation && !slices.Contains(harmless, program) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// measure records in the forecasts what the whole transaction takes from their maker, given the accounts before and
// after, nil if not known. So is that with other signers, who may pay a part of it.
func (c *Chain) measure(m solana.Message, instructions []creation.InstructionOnSolana, accounts []watched, all []creation.Forecast) {
	measured := measurement{quote.Simulation{Sender: m.FeePayer()}, c.chain.WrappedCoin, nil, accounts, cost(m)}
	had, has, err := measured.purses()
	opened := measured.opened(func(w watched) bool {
		return slices.ContainsFunc(instructions, func(in creation.InstructionOnSolana) bool { return slices.Contains(in.Accounts, w.at) })
	})
	if most := chain.NewAmount(2 * reserveLamports); opened.Cmp(most) > 0 { // of a swap and an order
		opened = most
	}
	has.lamports = has.lamports.Add(measured.cost).Add(opened)
	isKnown := err == nil && accounts != nil && !m.IsSigner(m.Account(1))
	for _, f := range all {
		if isKnown = isKnown && f.Maker == m.FeePayer() && f.FixedFee != nil; isKnown {
			has.lamports = has.lamports.Add(*f.FixedFee)
		}
	}
	spent := []order.Offer{}
	for token, amount := range measured.lost(had, has) {
		spent = append(spent, order.Offer{Chain: c.chain.ID, Token: token, Amount: amount})
	}
	slices.SortFunc(spent, func(a, b order.Offer) int { return a.Token.Compare(b.Token) })
	for i := range all {
		switch f := &all[i]; {
		case isKnown:
			f.Spent = spent
		case err != nil:
			f.Warnings = append(f.Warnings, creation.Warning{Code: creation.CallsOthers, Text: err.Error()})
			fallthrough
		default:
			f.Unknown = append(f.Unknown, creation.UnknownInput)
		}
	}
}

// creationsIn returns the instructions of a message that ask for orders, and the accounts in lookup tables that it may
// write, nil if these cannot be read.
func (c *Chain) creationsIn(ctx context.Context, m solana.Message) (found []creation.InstructionOnSolana, written []chain.Address, err error) {
	lookedUp := make([]chain.Address, m.LookedUp) // absent if the tables cannot be read
	if tables, read, err := c.LookUp(ctx, m); err == nil {
		lookedUp, written = slices.Concat(tables, read), append([]chain.Address{}, tables...)
	}
	tx, err := m.Resolve(lookedUp, nil, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", creation.ErrMalformed, err)
	}
	isFirst := true
	for _, in := range tx.Instructions {
		o, err := creation.OfSolana(in, c.chain.Contracts)
		if !errors.Is(err, creation.ErrOtherFunction) {
			found = append(found, creation.InstructionOnSolana{
				Instruction: in, Asked: o, Mistake: err, IsSigned: err != nil || m.IsSigner(o.Maker), IsFirst: isFirst,
			})
		}
		isFirst = isFirst && in.Program == solana.ComputeBudgetProgram
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("%w: the transaction does not call dln_src to create an order", creation.ErrOtherFunction)
	}
	return found, written, nil
}

// views returns the states by which instructions are judged, except for whether their orders exist.
func (c *Chain) views(ctx context.Context, instructions []creation.InstructionOnSolana) []creation.State {
	asked, states := []chain.Address{c.sourceState()}, make([]creation.State, len(instructions))
	for i, in := range instructions {
		states[i] = creation.State{Chain: c.chain.ID, Contracts: c.chain.Contracts}
		accounts := [3]chain.Address{}
		if in.Mistake == nil {
			accounts = in.Asked.Views(in.Instruction, c.chain.Contracts)
		}
		for _, at := range accounts {
			if at.IsAbsent() {
				at = c.sourceState() // a placeholder, which is read anyway and has another form
			}
			asked = append(asked, at)
		}
	}
	accounts, err := c.readAccounts(ctx, asked)
	if err != nil {
		return states
	}
	source, err := c.readSourceState(accounts[0])
	for i := range states {
		view, s := accounts[1+3*i:], &states[i]
		if err == nil {
			s.FixedFee, s.PercentBps, s.Paused = new(chain.NewAmount(source.fixed)), &source.bps, new(!source.isWorking)
		}
		c.enter(s, instructions[i], view)
		for _, before := range instructions[:i] {
			if s.Nonce != nil && before.Mistake == nil && before.Asked.Nonce == nil && before.Asked.Maker == instructions[i].Asked.Maker {
				*s.Nonce++ // each order that uses the counter increments it
			}
		}
	}
	return states
}

// enter fills in s from the accounts of creation.OnSolana.Views.
func (c *Chain) enter(s *creation.State, in creation.InstructionOnSolana, accounts []*accountInfo) {
	if in.Mistake != nil {
		return
	}
	const kind = 8 // bytes before an account's content
	of := func(account *accountInfo) *solana.Reader {
		r := &solana.Reader{Rest: make([]byte, 2*kind)} // for a missing one: no peer, and a counter at zero
		if account != nil {
			r.Rest = account.Data
		}
		if r.Take(kind); account != nil && account.Owner.Address != c.chain.Contracts.DlnSource {
			r.Fail(creation.ErrOtherAccounts)
		}
		return r
	}
	peer, counter := of(accounts[0]), of(accounts[1])
	if address := peer.Take(uint64(peer.Uint32())); peer.Err == nil {
		s.Destination = new(chain.NewAddress(address))
	}
	if n := counter.Uint64(); counter.Err == nil {
		s.Nonce = &n
	}
	switch held := readHolding(accounts[2]); {
	case in.Asked.GiveToken.IsNative():
		s.Input.Balance = new(lamportsOf(accounts[2]))
	case accounts[2] == nil || held.mint == in.Asked.GiveToken:
		s.Input.Balance = new(held.amount)
	}
}

// enterUse records in states whether the orders exist.
func (c *Chain) enterUse(ctx context.Context, instructions []creation.InstructionOnSolana, states []creation.State) {
	var ids []order.ID
	of := map[order.ID][]*creation.State{}
	for i, in := range instructions {
		if f := creation.JudgeOnSolana(in, states[i]); f.ID != nil {
			ids, of[*f.ID] = append(ids, *f.ID), append(of[*f.ID], &states[i])
		}
	}
	if stored, err := c.States(ctx, ids); err == nil {
		for i, id := range ids {
			for _, state := range of[id] {
				state.IsUsed = new(stored[i].State != order.None)
			}
		}
	}
}

// probe simulates a transaction. It returns the result of the whole, nil if no node provides one, the orders created,
// and the accounts that it may write before and after, nil if not all are known.
func (c *Chain) probe(ctx context.Context, m solana.Message, data []byte, lookedUp []chain.Address) (said *creation.CallResult, made []onchain.Found, accounts []watched) {
	ran, accounts, err := c.runWatched(ctx, m, quote.Tx{Data: data}, lookedUp)
	if err != nil && !errors.Is(err, quote.ErrRefused) {
		return nil, nil, nil
	}
	if lookedUp == nil {
		accounts = nil
	}
	switch failure := ran.failure(); {
	case ran.isOf(wrongMoment):
		return nil, nil, nil
	case failure != nil:
		return &creation.CallResult{IsReverted: true, Text: failure.Error()}, nil, nil
	}
	made, err = onchain.DecodeSolana(c.chain.Contracts, m.Ran(ran.Logs), noNames)
	if err != nil {
		made = nil
	}
	return &creation.CallResult{}, made, accounts
}
