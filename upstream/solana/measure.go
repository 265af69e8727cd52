package solana

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
)

// measurement compares the accounts that a message itself names and may write, before and after its simulation.
type measurement struct {
	quote.Simulation
	wrapped  chain.Address   // mint of the coin
	payable  []chain.Address // the recipient's accounts for the output
	accounts []watched
	cost     chain.Amount // of the transaction itself, in lamports: signature, priority fee, tips
}

// watched is an account before and after, nil if there is none, and its content as a token account.
type watched struct {
	at            chain.Address
	before, after *accountInfo
	was, is       holding
}

func watch(at chain.Address, before, after *accountInfo) watched {
	existing := func(state *accountInfo) *accountInfo {
		if state == nil || state.Lamports == 0 { // nodes show closed accounts as empty ones
			return nil
		}
		return state
	}
	w := watched{at: at, before: existing(before), after: existing(after)}
	w.was, w.is = readHolding(w.before), readHolding(w.after)
	return w
}

// received returns how much the recipient gains of the output. It is an error if the sender loses more than the input,
// the cost and the deposits of opened accounts, or if others may take from his accounts.
func (m measurement) received() (received chain.Amount, err error) {
	had, has, err := m.purses()
	if err != nil {
		return received, err
	}
	for _, w := range m.accounts {
		received = received.Add(m.paid(w))
	}
	opened := m.opened(func(w watched) bool { return w.is.owner == m.Recipient })
	if opened.Cmp(chain.NewAmount(reserveLamports)) > 0 {
		return received, fmt.Errorf("it leaves %s lamports on accounts that it opens", opened)
	}
	has.lamports = has.lamports.Add(m.cost).Add(opened)
	for token, amount := range m.lost(had, has) {
		isInput := token == m.In || token.IsNative() && m.In == m.wrapped
		if !isInput || amount.Cmp(m.AmountIn) > 0 {
			return received, fmt.Errorf("it takes %s of the sender's token %s", amount, token.Format(chain.SVM))
		}
	}
	if m.Recipient != m.Sender {
		return received, nil
	}
	gained := has.lamports.Sub(had.lamports)
	switch {
	case m.Out.IsNative(): // it may have been on an account of the wrapped coin, and must not stay there
		received = gained.Sub(has.tokens[m.wrapped].Sub(had.tokens[m.wrapped]))
	case m.Out == m.wrapped && gained.Cmp(received) < 0: // some of it is the sender's own coin
		received = gained
	}
	return received, nil
}

// purses returns what the sender has before and afterwards. It is an error if others may take from his accounts.
func (m measurement) purses() (had, has purse, err error) {
	had, has = purse{tokens: map[chain.Address]chain.Amount{}}, purse{tokens: map[chain.Address]chain.Amount{}}
	for _, w := range m.accounts {
		if w.changesHands(m.Sender) {
			return had, has, fmt.Errorf("it lets others take from the sender's account %s", w.at.Format(chain.SVM))
		}
		if w.at == m.Sender || w.was.owner == m.Sender {
			had.add(w.before, w.was)
		}
		if w.at == m.Sender || w.is.owner == m.Sender && w.isSafe() {
			has.add(w.after, w.is)
		}
	}
	return had, has, nil
}

// opened returns the deposits on new accounts that programs keep about the sender, and on those that he may open for
// others.
func (m measurement) opened(mayOpen func(watched) bool) (sum chain.Amount) {
	for _, w := range m.accounts {
		if w.isNew() && w.is.owner != m.Sender && (mayOpen(w) || !isWallets(w.after)) {
			sum = sum.Add(deposit(w.after))
		}
	}
	return sum
}

// paid returns the recipient's gain by an account, except for a sender's gain of the coin.
func (m measurement) paid(w watched) (paid chain.Amount) {
	switch {
	case m.Out.IsNative() && w.at == m.Recipient && m.Recipient != m.Sender:
		return lamportsOf(w.after).Sub(lamportsOf(w.before))
	case m.Out == m.wrapped && w.is.has(closerTag): // who could take the coin by closing the account
		return paid
	case slices.Contains(m.payable, w.at) && w.is.owner == m.Recipient && w.is.mint == m.Out && w.isSafe():
		return w.is.amount.Sub(w.was.amount)
	}
	return paid
}

// lost returns what the sender has less of afterwards, by token. The wrapped coin counts as the coin.
func (m measurement) lost(had, has purse) map[chain.Address]chain.Amount {
	lost := map[chain.Address]chain.Amount{chain.NativeCoin(chain.SVM): had.lamports.Sub(has.lamports)}
	for mint, amount := range had.tokens {
		if mint != m.wrapped {
			lost[mint] = amount.Sub(has.tokens[mint])
		}
	}
	maps.DeleteFunc(lost, func(_ chain.Address, amount chain.Amount) bool { return amount.IsZero() })
	return lost
}

// changesHands reports whether an account of the owner's belongs to another afterwards, or others may take from it.
func (w watched) changesHands(owner chain.Address) bool {
	switch {
	case w.after == nil:
		return false
	case w.at == owner:
		return w.after.Owner.Address != solana.SystemProgram || len(w.after.Data) > 0
	}
	return w.was.owner == owner && (w.is.owner != owner || w.is.mint != w.was.mint || w.is.rights != w.was.rights)
}

// isSafe reports whether no new party has rights to take from a token account.
func (w watched) isSafe() bool {
	if w.was.mint.IsAbsent() {
		return !w.is.mint.IsAbsent() && !w.is.isShared()
	}
	return w.is.rights == w.was.rights
}

// isNew reports whether the transaction opened the account, which may have held lamports before.
func (w watched) isNew() bool {
	return w.after != nil && w.after.Owner.Address != solana.SystemProgram &&
		(w.before == nil || w.before.Owner.Address == solana.SystemProgram)
}

// holding is the content of a token account (github.com/solana-program/token, state.rs); zero for other accounts.
type holding struct {
	mint, owner chain.Address
	amount      chain.Amount
	rights      string // who else may take from it, and how much
}

// Offsets in a token account.
const (
	mintOffset       = 0
	ownerOffset      = 32
	amountOffset     = 64
	rightsOffset     = 72 // delegate, state, reserve of the wrapped coin, the delegate's amount, who may close it
	delegateTag      = 72
	closerTag        = 129
	tokenAccountSize = 165
)

func readHolding(state *accountInfo) (h holding) {
	if !state.isToken() || len(state.Data) < tokenAccountSize {
		return h
	}
	at := func(offset int) chain.Address { return chain.NewAddress(state.Data[offset : offset+solana.KeySize]) }
	return holding{
		mint: at(mintOffset), owner: at(ownerOffset),
		amount: chain.NewAmount(binary.LittleEndian.Uint64(state.Data[amountOffset:])),
		rights: string(state.Data[rightsOffset:tokenAccountSize]),
	}
}

// isShared reports whether anyone but the owner may take from the account, or close it.
func (h holding) isShared() bool { return h.has(delegateTag) || h.has(closerTag) }

func (h holding) has(tag int) bool { return h.rights != "" && h.rights[tag-rightsOffset] != 0 }

// purse is an owner's lamports, including those of token accounts, and tokens.
type purse struct {
	lamports chain.Amount
	tokens   map[chain.Address]chain.Amount // by mint
}

func (p *purse) add(state *accountInfo, h holding) {
	p.lamports = p.lamports.Add(lamportsOf(state))
	p.tokens[h.mint] = p.tokens[h.mint].Add(h.amount)
}

func lamportsOf(state *accountInfo) (lamports chain.Amount) {
	if state != nil {
		lamports = chain.NewAmount(state.Lamports)
	}
	return lamports
}

// isWallets reports whether a key, not a program, controls an account.
func isWallets(state *accountInfo) bool {
	return state.Owner.Address == solana.SystemProgram || state.isToken()
}

// deposit returns the rent deposit for an account's size (solana.com/docs/core/fees, rent), or its lamports if less.
func deposit(state *accountInfo) chain.Amount {
	const overhead, perByte = 128, 2 * 3480
	return chain.NewAmount(min(state.Lamports, uint64(overhead+len(state.Data))*perByte))
}

// cost returns the cost of a message's transaction to its sender, in lamports.
func cost(m solana.Message) chain.Amount {
	sum := chain.NewAmount(signatureFee).Add(m.PriorityFee())
	for _, i := range m.Instructions {
		if paid, is := m.ReadTransfer(i); is && slices.Contains(tipAccounts, paid.To) {
			sum = sum.Add(paid.Lamports)
		}
	}
	return sum
}

// LookUp returns the accounts in lookup tables that a message may write, and those that it only reads. The entries of a
// table never change.
func (c *Chain) LookUp(ctx context.Context, m solana.Message) (written, read []chain.Address, err error) {
	if len(m.Tables) == 0 {
		return nil, nil, nil
	}
	tables := make([]chain.Address, len(m.Tables))
	for i, use := range m.Tables {
		tables[i] = use.Table
	}
	found, err := find(ctx, c, tables, func(states []*accountInfo) (found struct{ written, read []chain.Address }, err error) {
		for i, use := range m.Tables {
			holds, err := held(use.Table, states[i], slices.Concat(use.Written, use.Read))
			if err != nil {
				return found, err
			}
			found.written = append(found.written, holds[:len(use.Written)]...)
			found.read = append(found.read, holds[len(use.Written):]...)
		}
		return found, nil
	})
	return found.written, found.read, err
}

// held returns the accounts at indices of a lookup table.
func held(table chain.Address, state *accountInfo, places []byte) (found []chain.Address, err error) {
	holds := tableOf(state)
	if len(holds) == 0 {
		return nil, fmt.Errorf("%w: %s is not a lookup table", quote.ErrNotSimulated, table.Format(chain.SVM))
	}
	for _, at := range places {
		if int(at) >= len(holds) {
			return nil, fmt.Errorf("%w: lookup table %s has no account %d", quote.ErrNotSimulated, table.Format(chain.SVM), at)
		}
		found = append(found, holds[at])
	}
	return found, nil
}

// tableOf returns the accounts in a lookup table, none for any other account.
func tableOf(state *accountInfo) []chain.Address {
	if state == nil || state.Owner.Address != solana.LookupTableProgram {
		return nil
	}
	return solana.ReadLookupTable(state.Data)
}
