package creation_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/chain/revert"
	"crossgate/chain/words"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
)

// ledger is the part of a chain's state, in the vectors, that decides about a creation.
type ledger struct {
	t       *testing.T
	chain   vectorChain
	tokens  map[chain.Address]*ledgerToken
	coins   map[chain.Address]chain.Amount
	isKnown func(chain.Address) bool // reports whether an account has balances from the start

	isPaused     bool
	fixedFee     chain.Amount
	percentBps   uint64
	destinations map[chain.ID]chain.Address
	nonces       map[chain.Address]uint64
	used         map[order.ID]bool
	listed       map[chain.Address]bool
}

type ledgerToken struct {
	behaviour  string
	domain     *struct{ Name, Version string }
	base       chain.Amount
	balances   map[chain.Address]chain.Amount
	allowances map[[2]chain.Address]chain.Amount
	nonces     map[chain.Address]uint64
}

// baseOf returns the state in which every case starts.
func baseOf(t *testing.T, v vectors, id chain.ID) *ledger {
	t.Helper()
	at := slices.IndexFunc(v.Chains, func(c vectorChain) bool { return c.DeBridgeID == id })
	c := v.Chains[at]
	l := &ledger{
		t: t, chain: c, tokens: map[chain.Address]*ledgerToken{}, coins: map[chain.Address]chain.Amount{},
		fixedFee: c.GlobalFixedNativeFee, percentBps: c.GlobalTransferFeeBps,
		destinations: map[chain.ID]chain.Address{}, nonces: map[chain.Address]uint64{}, used: map[order.ID]bool{},
		listed: map[chain.Address]bool{c.Contracts["dlnSource"]: true, c.Contracts["venue"]: true, c.Contracts["dlnDestination"]: true},
	}
	l.isKnown = func(a chain.Address) bool { return v.Accounts[a] != "" || a == c.Contracts["wallet"] }
	for _, peer := range c.Peers {
		l.destinations[peer.ID] = peer.DlnDestination
	}
	for _, token := range c.Tokens {
		l.tokens[token.Address] = newToken(t, token.Behaviour, token.PermitDomain, token.Decimals)
	}
	return l
}

func newToken(t *testing.T, behaviour string, domain *struct{ Name, Version string }, decimals int) *ledgerToken {
	base := "1000000000000000000000"
	if decimals > 8 {
		base += "000000"
	}
	return &ledgerToken{
		behaviour: behaviour, domain: domain, base: must.Get(chain.ParseAmount(base))(t),
		balances: map[chain.Address]chain.Amount{}, allowances: map[[2]chain.Address]chain.Amount{}, nonces: map[chain.Address]uint64{},
	}
}

func (l *ledger) balance(token, account chain.Address) chain.Amount {
	held := l.tokens[token]
	if balance, isSet := held.balances[account]; isSet || !l.isKnown(account) {
		return balance
	}
	return held.base
}

func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4] }

// apply applies a transaction that precedes the case.
func (l *ledger) apply(tx vectorTx) {
	if len(tx.Data) < 4 {
		l.spend(tx.From, tx.Value)
		return
	}
	w, is := words.New(tx.Data[4:]), func(signature string) bool { return bytes.HasPrefix(tx.Data, selector(signature)) }
	token := l.tokens[tx.To]
	switch {
	case is("approve(address,uint256)"):
		token.allowances[[2]chain.Address{tx.From, w.Address(0)}] = w.Amount(1)
	case is("mint(address,uint256)"):
		token.balances[w.Address(0)] = l.balance(tx.To, w.Address(0)).Add(w.Amount(1))
	case is("transfer(address,uint256)"):
		token.balances[w.Address(0)] = l.balance(tx.To, w.Address(0)).Add(w.Amount(1))
	case is("permit(address,address,uint256,uint256,uint8,bytes32,bytes32)"):
		token.allowances[[2]chain.Address{w.Address(0), w.Address(1)}] = w.Amount(2)
		token.nonces[w.Address(0)]++
	case bytes.HasPrefix(tx.Data, []byte{0x1d, 0x79, 0xf3, 0x25}): // sets an account's permit nonce
		token.nonces[w.Address(0)] = w.Uint(1, 64)
	case is("pause()"):
		l.isPaused = true
	case is("updateGlobalFee(uint88,uint16)"):
		l.fixedFee, l.percentBps = w.Amount(0), w.Uint(1, 16)
	case is("setDlnDestinationAddress(uint256,bytes,uint8)"):
		l.destinations[w.ChainID(0)] = w.Party(1)
	case is("updateSupportedRouter(address,bool)"):
		l.listed[w.Address(0)] = w.Bool(1)
	case bytes.HasPrefix(tx.Data, []byte{0x08, 0xb0, 0xa1, 0x5b}): // a token at an address: name, symbol, decimals, version
		l.tokens[tx.To] = newToken(l.t, "ordinary", nil, 18)
	default:
		c, swap, err := parse(tx.Data)
		if err != nil {
			return
		}
		f, err := creation.Judge(transaction(tx), l.state(tx, tx.From, c, swap, nil))
		must.Do(l.t, err)
		if f.ID != nil && f.Refusal == nil {
			l.created(f, tx.From)
		}
	}
}

// created applies the effects of an order's creation.
func (l *ledger) created(f creation.Forecast, caller chain.Address) {
	l.used[*f.ID] = true
	if f.Creation.Salt == nil {
		l.nonces[f.Maker]++
	}
	spender, token, envelope, amount := l.chain.Contracts["dlnSource"], f.Creation.GiveToken, f.Creation.Permit, f.Creation.GiveAmount
	if f.Swap != nil {
		spender, token, envelope, amount = l.chain.Contracts["router"], f.Swap.TokenIn, f.Swap.Permit, f.Swap.AmountIn
	}
	l.spend(caller, *f.Value)
	if token.IsNative() {
		return
	}
	t, pair := l.tokens[token], [2]chain.Address{caller, spender}
	if p, complete := creation.ParsePermit(envelope); complete && l.takes(token, p, caller, spender, 0) {
		t.nonces[caller]++
		t.allowances[pair] = p.Amount
	}
	if t.allowances[pair] != everything {
		t.allowances[pair] = t.allowances[pair].Sub(amount)
	}
	t.balances[caller] = l.balance(token, caller).Sub(amount)
}

var everything = chain.AmountFromBytes(bytes.Repeat([]byte{0xff}, 32))

func (l *ledger) spend(account chain.Address, value chain.Amount) {
	l.coins[account] = l.coinsOf(account).Sub(value)
}

func (l *ledger) coinsOf(account chain.Address) chain.Amount {
	if coins, isSet := l.coins[account]; isSet {
		return coins
	}
	if l.isKnown(account) {
		return must.Get(chain.ParseAmount("1000000000000000000000000"))(l.t)
	}
	return everything // from another source
}

// takes reports whether a token accepts a permit (EIP-2612) at a block's time.
func (l *ledger) takes(token chain.Address, p creation.Permit, owner, spender chain.Address, at uint64) bool {
	held := l.tokens[token]
	if held.domain == nil || p.Deadline.Cmp(chain.NewAmount(at)) < 0 || p.V() > 28 {
		return false
	}
	word := func(n chain.Amount) []byte { w := n.Bytes32(); return w[:] }
	hash := func(text string) []byte { return crypto.Keccak256([]byte(text)) }
	address := func(a chain.Address) []byte { return append(make([]byte, 12), a.Bytes()...) }
	domain := crypto.Keccak256(
		hash("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
		hash(held.domain.Name), hash(held.domain.Version), word(chain.NewAmount(l.chain.EVMChainID)), address(token))
	message := crypto.Keccak256(
		hash("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"),
		address(owner), address(spender), word(p.Amount), word(chain.NewAmount(held.nonces[owner])), word(p.Deadline))
	signature := slices.Clone(p.Signature[:])
	signature[64] = p.V() - 27
	key, err := crypto.SigToPub(crypto.Keccak256([]byte{0x19, 0x01}, domain, message), signature)
	return err == nil && bytes.Equal(crypto.PubkeyToAddress(*key).Bytes(), owner.Bytes())
}

// refusals encodes the reverts of the vectors' tokens.
var refusals = revert.Parse("Error(string message)")

func saying(text string) []byte { return refusals.Encode("Error", text) }

// token returns a token's state before the transaction, for a payer from whom spender pulls with a permit.
func (l *ledger) token(at, payer, spender chain.Address, envelope []byte, time uint64) creation.Token {
	held, is := l.tokens[at]
	answer := creation.Token{IsToken: &is}
	if !is {
		return answer
	}
	balance, allowance := l.balance(at, payer), held.allowances[[2]chain.Address{payer, spender}]
	answer.Balance, answer.Allowance = &balance, &allowance
	answer.LacksAllowance, answer.LacksBalance = saying("ERC20: insufficient allowance"), saying("ERC20: transfer amount exceeds balance")
	p, _ := creation.ParsePermit(envelope)
	isTaken := len(envelope) > 0 && l.takes(at, p, payer, spender, time)
	answer.TakesPermit = &isTaken
	answer.Transfer, answer.TransferFrom = creation.ReturnsTrue, creation.ReturnsTrue
	switch {
	case strings.HasPrefix(held.behaviour, "returns nothing"):
		answer.Transfer, answer.TransferFrom = creation.ReturnsNothing, creation.ReturnsNothing
		answer.LacksAllowance, answer.LacksBalance = []byte{}, []byte{}
	case strings.HasPrefix(held.behaviour, "transferFrom() moves nothing"):
		answer.TransferFrom = creation.ReturnsFalse
	case strings.HasPrefix(held.behaviour, "transfer() moves and answers false"):
		answer.Transfer = creation.ReturnsFalse
	}
	return answer
}

func transaction(tx vectorTx) creation.Transaction {
	return creation.Transaction{Sender: tx.From, To: tx.To, Value: tx.Value, Data: tx.Data}
}

// state returns the state that decides about a creation. v provides the time and outcome; it is nil before the case.
func (l *ledger) state(tx vectorTx, caller chain.Address, c creation.Creation, swap *creation.Swap, v *vector) creation.State {
	coins, nonce := l.coinsOf(tx.From), l.nonces[tx.From]
	destination := l.destinations[c.Take.Chain]
	source, router, time := l.chain.Contracts["dlnSource"], l.chain.Contracts["router"], uint64(0)
	if v != nil {
		time = v.Block.Timestamp
	}
	s := creation.State{
		Chain:     l.chain.DeBridgeID,
		Contracts: chain.Contracts{DlnSource: source, DlnDestination: l.chain.Contracts["dlnDestination"], Router: router},
		Coins:     &coins, Version: "1.4.0", Paused: &l.isPaused, FixedFee: &l.fixedFee, PercentBps: &l.percentBps,
		Destination: &destination, Nonce: &nonce,
	}
	salt := c.Salt
	if salt == nil {
		salt = &nonce
	}
	if split, err := creation.SplitOf(c.GiveAmount, c.Affiliate(), l.percentBps); err == nil {
		isUsed := l.used[idOf(c.Terms(s.Chain, tx.From, *salt, split.Net))]
		s.IsUsed = &isUsed
	}
	give := l.tokens[c.GiveToken]
	if v != nil && (swap != nil || give != nil && strings.HasPrefix(give.behaviour, "burns")) {
		s.Executed = &creation.CallResult{IsReverted: v.Result.Revert != nil} // the chain decides what venues and odd tokens do
		if s.Executed.IsReverted {
			s.Executed.Data = v.Result.Revert.Data
		}
	}
	if swap == nil {
		s.Input = l.token(c.GiveToken, caller, source, c.Permit, time)
		return s
	}
	s.Input = l.token(swap.TokenIn, caller, router, swap.Permit, time)
	s.Give = l.token(c.GiveToken, router, source, c.Permit, time)
	callsTarget, callsVenue := l.listed[swap.Target], l.listed[swap.Venue]
	s.CallsTarget, s.CallsVenue = &callsTarget, &callsVenue
	return s
}
