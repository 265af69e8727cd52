package solana

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/upstream/jsonrpc"
)

// sourceState is the content of dln_src's state (IDL of dln_src 3.0.0).
type sourceState struct {
	fixed, bps uint64
	isWorking  bool
}

func (c *Chain) sourceState() chain.Address {
	return solana.ProgramAddress(c.chain.Contracts.DlnSource, []byte("STATE"))
}

func (c *Chain) readSourceState(account *accountInfo) (s sourceState, err error) {
	if account == nil || account.Owner.Address != c.chain.Contracts.DlnSource {
		return s, fmt.Errorf("chain %d: no state of the order program", c.chain.ID)
	}
	r := &solana.Reader{Rest: account.Data}
	r.Take(8) // the kind of account
	r.Key()   // protocol's authority
	s.fixed, s.bps = r.Uint64(), r.Uint64()
	r.Uint8() // whether the fixed fee is refunded
	r.Key()   // its beneficiary
	r.Uint8()
	r.Key() // who may pause
	if s.isWorking = r.Uint8() != 0; r.Err != nil {
		return s, fmt.Errorf("chain %d: state of the order program: %w", c.chain.ID, r.Err)
	}
	return s, nil
}

// Charges reads the fees of dln_src for makers from its state.
func (c *Chain) Charges(ctx context.Context, _ chain.ID) (crosschain.Charges, error) {
	return find(ctx, c, []chain.Address{c.sourceState()}, func(states []*accountInfo) (charges crosschain.Charges, err error) {
		s, err := c.readSourceState(states[0])
		switch {
		case err != nil:
			return charges, err
		case !s.isWorking:
			return charges, fmt.Errorf("chain %d: the order program is paused", c.chain.ID)
		case s.bps >= 10_000:
			return charges, fmt.Errorf("the order program of chain %d charges 100 %% or more", c.chain.ID)
		}
		return crosschain.Charges{Fixed: chain.NewAmount(s.fixed), TransferBps: int(s.bps)}, nil
	})
}

type blockhashReply struct {
	Value struct {
		Blockhash blockHash `json:"blockhash"`
	} `json:"value"`
}

func latestBlockhashCall(out *blockhashReply) *jsonrpc.Call {
	return jsonrpc.NewCall(out, func(r blockhashReply) error {
		if chain.Hash(r.Value.Blockhash).IsAbsent() {
			return errors.New("no blockhash")
		}
		return nil
	}, "getLatestBlockhash", options{"commitment": confirmed})
}

var (
	_ crosschain.Runner = (*Chain)(nil)
	_ crosschain.Writer = (*Chain)(nil)
)

// creationUnits exceeds the compute units of creating an order, which opens three accounts.
const creationUnits = 200_000

// Create returns a transaction of version 0 that creates the order with an ID, with a limit and a price of compute
// units. If before is a venue's message whose swap pays the give token to the maker, the order is created after it. The
// token program of o is filled in. Lookup tables are those of before: the protocol has none for creations, and its own
// client makes one for each maker.
func (c *Chain) Create(ctx context.Context, o creation.OnSolana, id order.ID, before []byte, p quote.Priority) ([]byte, error) {
	price, err := c.GasPrice(ctx, p)
	if err != nil {
		return nil, err
	}
	var hash blockhashReply
	o.TokenProgram, err = find(ctx, c, []chain.Address{o.GiveToken}, programOf(o.GiveToken), latestBlockhashCall(&hash))
	if err != nil {
		return nil, err
	}
	bid, _ := price.Bid.Uint64()
	d := solana.Draft{FeePayer: o.Maker, Instructions: solana.Budget{Units: creationUnits, Price: bid}.Instructions()}
	if len(before) > 0 {
		m, err := solana.ParseUnsigned(before)
		if err != nil {
			return nil, err
		}
		written, read, err := c.LookUp(ctx, m)
		if err != nil {
			return nil, err
		}
		if d, err = m.Draft(append(written, read...)); err != nil {
			return nil, err
		}
		d.AddUnits(creationUnits)
	}
	d.Blockhash = hash.Value.Blockhash
	d.Instructions = append(d.Instructions, o.Instruction(c.chain.Contracts, id))
	return d.Compile()
}

// Signable returns crosschain.ErrKeyless if one of the accounts is a program or belongs to a token program, so that no
// key and no other program can sign for it.
func (c *Chain) Signable(ctx context.Context, accounts ...chain.Address) error {
	var states accountInfos
	if err := c.rpc.All(ctx, holdingsCall(&states, accounts)); err != nil {
		return fmt.Errorf("authorities of the order: %w", err)
	}
	for i, state := range states.Value {
		if state.isToken() || state != nil && state.IsProgram {
			return fmt.Errorf("%w: %s", crosschain.ErrKeyless, accounts[i].Format(chain.SVM))
		}
	}
	return nil
}

// Creation simulates a transaction that creates an order on the newest block, checks that it creates the promised one,
// and returns the compute units that it took. Errors: quote.ErrReverted, a certain failure; creation.ErrBroken, another
// order; quote.ErrRefused, a priority fee beyond the guard's bound; quote.ErrNotSimulated, which says nothing about the
// transaction, for example if the maker lacks what it takes.
func (c *Chain) Creation(ctx context.Context, t creation.Transaction, promised creation.Promise) (units uint64, err error) {
	m, err := solana.ParseUnsigned(t.Data)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", creation.ErrBroken, err)
	}
	if m.FeePayer() != t.Sender {
		return 0, fmt.Errorf("%w: another account pays for it", creation.ErrBroken)
	}
	ran, err := c.run(ctx, quote.Tx{Data: t.Data})
	if err != nil {
		return 0, err
	}
	if failure := ran.failure(); failure != nil {
		return 0, c.unlessMakerPoor(ctx, m, promised.Created, failure)
	}
	made, err := onchain.DecodeSolana(c.chain.Contracts, m.Ran(ran.Logs), noNames)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", creation.ErrBroken, err)
	}
	return ran.Units, errors.Join(promised.Check(made), checkBid(m, ran.Units))
}

// unlessMakerPoor returns why a creation failed: the maker's balance if that is too low, otherwise failure. Behind a
// swap, which brings what the order gives, only the coin for fees counts.
func (c *Chain) unlessMakerPoor(ctx context.Context, m solana.Message, made order.Created, failure error) error {
	needs := quote.Simulation{Sender: m.FeePayer(), In: chain.NativeCoin(chain.SVM), Tx: quote.Tx{Value: made.FixFee}}
	isSwap := func(i solana.CompiledInstruction) bool {
		return !slices.Contains([]chain.Address{solana.ComputeBudgetProgram, c.chain.Contracts.DlnSource}, m.Account(i.Program))
	}
	if !slices.ContainsFunc(m.Instructions, isSwap) {
		needs.In, needs.AmountIn = made.Terms.Give.Token, made.Terms.Give.Amount.Add(made.PercentFee)
		if made.Affiliate != nil {
			needs.AmountIn = needs.AmountIn.Add(made.Affiliate.Amount)
		}
	}
	return c.unlessPoor(ctx, needs, failure)
}
