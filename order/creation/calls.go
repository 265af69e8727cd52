package creation

import (
	"errors"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order/onchain"
)

// View is a read-only call, and how its answer changes the state. An answer that cannot be decoded is ignored.
type View struct {
	To   chain.Address
	Data []byte
	read func(*State, words.Reader)
	none func(*State) // applied for an empty answer; nil: that is ignored
}

// Read applies an answer to a state.
func (v View) Read(s *State, answer []byte) {
	if len(answer) == 0 && v.none != nil {
		v.none(s)
		return
	}
	read := *s
	w := words.New(answer)
	if v.read(&read, w); w.Err() == nil {
		*s = read
	}
}

// payment is an amount that a contract pulls from an account.
type payment struct {
	token, payer, spender chain.Address
	amount                chain.Amount
	permit                []byte
	state                 func(*State) *Token
}

// payments returns a transaction's pulls: by the contract called first, and by DlnSource from the router.
func payments(t Transaction, s State) (c Creation, w *Swap, pulls []payment) {
	input := func(s *State) *Token { return &s.Input }
	if swap, err := ParseSwap(t.Data); !errors.Is(err, ErrOtherFunction) {
		c, _ = Parse(swap.TargetData)
		return c, &swap, []payment{
			{swap.TokenIn, t.Sender, t.To, swap.AmountIn, swap.Permit, input},
			{c.GiveToken, t.To, s.Contracts.DlnSource, c.GiveAmount, nil, func(s *State) *Token { return &s.Give }},
		}
	}
	c, _ = Parse(t.Data)
	return c, nil, []payment{{c.GiveToken, t.Sender, t.To, c.GiveAmount, c.Permit, input}}
}

// Views returns the calls by which to read a transaction's state, whose contracts must be set in s.
func Views(t Transaction, s State) []View {
	c, swap, pulls := payments(t, s)
	source, router := s.Contracts.DlnSource, s.Contracts.Router
	asked := []View{
		{To: source, Data: words.Call("version()"), read: func(s *State, w words.Reader) { s.Version = string(w.Bytes(0)) }},
		{To: source, Data: words.Call("paused()"), read: func(s *State, w words.Reader) { s.Paused = new(w.Bool(0)) }},
		{To: source, Data: words.Call("globalFixedNativeFee()"), read: func(s *State, w words.Reader) { s.FixedFee = new(w.Amount(0)) }},
		{To: source, Data: words.Call("globalTransferFeeBps()"), read: func(s *State, w words.Reader) { s.PercentBps = new(w.Uint(0, 16)) }},
		{
			To: source, Data: words.Call("dlnDestinationAddresses(uint256)", uint64(c.Take.Chain)),
			read: func(s *State, w words.Reader) { s.Destination = new(w.Party(0)) },
		},
		{To: source, Data: words.Call("masterNonce(address)", t.Sender), read: func(s *State, w words.Reader) { s.Nonce = new(w.Uint(0, 64)) }},
	}
	if swap != nil {
		isListed := func(callee chain.Address, into func(*State) **bool) View {
			return View{To: router, Data: words.Call("supportedRouters(address)", callee), read: func(s *State, w words.Reader) {
				*into(s) = new(w.Bool(0) || callee == s.Contracts.DlnDestination) // DlnDestination needs no listing
			}}
		}
		asked = append(asked, isListed(swap.Target, func(s *State) **bool { return &s.CallsTarget }),
			isListed(swap.Venue, func(s *State) **bool { return &s.CallsVenue }))
	}
	for _, p := range pulls {
		if p.token.IsNative() || p.token.IsAbsent() {
			continue
		}
		asked = append(asked,
			View{
				To: p.token, Data: words.Call("balanceOf(address)", p.payer),
				read: func(s *State, w words.Reader) { p.state(s).Balance, p.state(s).IsToken = new(w.Amount(0)), new(true) },
				none: func(s *State) { p.state(s).IsToken = new(false) },
			},
			View{
				To: p.token, Data: words.Call("allowance(address,address)", p.payer, p.spender),
				read: func(s *State, w words.Reader) { p.state(s).Allowance = new(w.Amount(0)) },
			})
	}
	return asked
}

// Probe is a call that is only simulated, from a contract, and how its result changes the state.
type Probe struct {
	From, To chain.Address
	Data     []byte
	Heard    func(*State, CallResult)
}

// Probes returns the probes of the tokens: the permit, the pull, and a transfer like the payment of a claim.
func Probes(t Transaction, s State) (asked []Probe) {
	_, _, pulls := payments(t, s)
	for _, p := range pulls {
		token := p.state(&s)
		if p.token.IsNative() || token.IsToken == nil {
			continue
		}
		source := s.Contracts.DlnSource
		asked = append(asked,
			Probe{
				p.spender, p.token, words.Call("transferFrom(address,address,uint256)", p.payer, p.spender, p.amount),
				func(s *State, r CallResult) { // before any permit
					switch t := p.state(s); {
					case !r.IsReverted:
						t.TransferFrom = returned(r)
					case t.Allowance != nil && t.Allowance.Cmp(p.amount) < 0:
						t.LacksAllowance = r.Data
					case t.Balance != nil && t.Balance.Cmp(p.amount) < 0:
						t.LacksBalance = r.Data
					}
				},
			},
			Probe{source, p.token, words.Call("transfer(address,uint256)", source, chain.Amount{}), func(s *State, r CallResult) {
				p.state(s).Transfer = returned(r)
			}})
		if permit, _ := ParsePermit(p.permit); len(p.permit) >= leastEnvelope {
			asked = append(asked, Probe{
				p.spender, p.token,
				words.Call("permit(address,address,uint256,uint256,uint8,bytes32,bytes32)", p.payer, p.spender, permit.Amount,
					permit.Deadline, uint64(permit.V()), chain.Hash(permit.Signature[:32]), chain.Hash(permit.Signature[32:64])),
				func(s *State, r CallResult) { p.state(s).TakesPermit = new(!r.IsReverted) },
			})
		}
	}
	return asked
}

// returned is what a function of a token returns.
func returned(r CallResult) Return {
	w := words.New(r.Data)
	switch {
	case r.IsReverted:
		return ReturnsUnknown
	case len(r.Data) == 0:
		return ReturnsNothing
	case w.Bool(0):
		return ReturnsTrue
	}
	return ReturnsFalse
}

// Status returns the probe whether the order of a forecast exists; nil: its ID is not known.
func (f Forecast) Status(source chain.Address) *Probe {
	if f.ID == nil {
		return nil
	}
	return &Probe{source, source, onchain.GiveOrderCall(*f.ID), func(s *State, r CallResult) {
		if w := words.New(r.Data); !r.IsReverted {
			if status := w.Uint(0, 8); w.Err() == nil {
				s.IsUsed = new(status != 0)
			}
		}
	}}
}
