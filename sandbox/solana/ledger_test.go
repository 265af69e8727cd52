package solana

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	began  = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	maker  = NewAccount("maker", sha256.Sum256([]byte("maker")))
	taker  = NewAccount("taker", sha256.Sum256([]byte("taker")))
	keeper = NewAccount("keeper", sha256.Sum256([]byte("keeper")))
	// wallet is somebody's address on an EVM chain.
	wallet = slices.Repeat([]byte{0xab}, 20)
)

const ethereum = 1

// open is a ledger with three funded accounts that knows Ethereum.
func open(t *testing.T) *Chain {
	t.Helper()
	c := New(began)
	for _, a := range []Account{maker, taker, keeper} {
		c.Fund(a.Key, 1_000_000_000_000, 1_000_000)
	}
	c.Connect(ethereum, slices.Repeat([]byte{1}, 20), slices.Repeat([]byte{2}, 20))
	return c
}

func named(t *testing.T, symbol string) Token {
	t.Helper()
	i := slices.IndexFunc(Tokens, func(t Token) bool { return t.Symbol == symbol })
	return Tokens[i]
}

// offer is an ordinary order from here.
func offer(t *testing.T, nonce uint64) Creation {
	return Creation{
		Maker: maker, Give: named(t, usdc), Amount: 10_000_000,
		Take:     Offer{ethereum, wallet, big.NewInt(9_900_000)},
		Receiver: wallet, Authority: wallet, Nonce: nonce, Metadata: make([]byte, 66),
	}
}

// arriving is an ordinary order to here.
func arriving(t *testing.T, nonce uint64) Terms {
	mint := named(t, usdc).Mint
	return Terms{
		Nonce: nonce, Maker: wallet, GiveChain: big.NewInt(ethereum), GiveToken: wallet, GiveAmount: big.NewInt(10_000_000),
		TakeChain: big.NewInt(ID), TakeToken: mint[:], TakeAmount: big.NewInt(9_900_000),
		Receiver: maker.Key[:], PatchAuthority: wallet, Authority: maker.Key[:],
	}
}

func (c *Chain) amount(at Key) uint64 {
	account, _ := stateOf[tokenAccount](c.accounts[at])
	return account.amount
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOrdersFromHereArePaidOut(t *testing.T) {
	c := open(t)
	for n, token := range append([]Token{Native}, Tokens...) {
		o := offer(t, uint64(n)+1)
		o.Give, o.Affiliate = token, &Affiliate{keeper.Key, 500}
		orders, err := c.Create(began.Add(time.Minute), Way{Forwarded: n%2 == 0, Versioned: n%3 == 1}, o)
		must(t, err)
		id := orders[0].Terms.ID()
		held, before := giveOrderWallet(id), c.amount(token.Wallet(taker.Key))
		if token.Mint != systemProgram && c.amount(held) != o.Amount {
			t.Errorf("%s: escrow holds %d, want %d", token.Symbol, c.amount(held), o.Amount)
		}
		m := Inbound{Submission: [32]byte{byte(n)}, From: ethereum, Beneficiary: taker.Key, Orders: [][32]byte{id}}
		must(t, c.Claim(began.Add(2*time.Minute), keeper, m, n%2 == 0))
		if c.Given(id) != ClaimedUnlock {
			t.Errorf("%s: status %d after the claim", token.Symbol, c.Given(id))
		}
		if token.Mint == systemProgram {
			continue
		}
		if paid, want := c.amount(token.Wallet(taker.Key))-before, o.net(); paid != want {
			t.Errorf("%s: the taker got %d, want %d", token.Symbol, paid, want)
		}
		if c.amount(held) != o.Affiliate.Amount {
			t.Errorf("%s: escrow keeps %d, want the affiliate's %d", token.Symbol, c.amount(held), o.Affiliate.Amount)
		}
		if err := c.Claim(began.Add(2*time.Minute), keeper, m, true); err == nil {
			t.Errorf("%s: the same message was claimed twice", token.Symbol)
		}
	}
}

func TestLamportsGoNowhereElse(t *testing.T) {
	c := open(t)
	sum := func() (total uint64) {
		for _, content := range c.accounts {
			if content != nil {
				total += content.lamports
			}
		}
		return total
	}
	before := sum()
	o := offer(t, 1)
	o.Give = named(t, wrapped)
	_, err := c.Create(began.Add(time.Minute), Way{Priority: 7}, o)
	must(t, err)
	must(t, c.Fulfil(began.Add(time.Minute), Way{}, Fulfilment{Terms: arriving(t, 1), Taker: taker}))
	must(t, c.SendUnlock(began.Add(time.Minute), taker, wallet, arriving(t, 1).ID()))
	var fees uint64
	for _, tx := range c.transactions {
		fees += tx.outcome.fee
	}
	if after := sum(); after+fees != before {
		t.Errorf("%d lamports before, %d after and %d in fees", before, after, fees)
	}
}

func TestProgramsRefuse(t *testing.T) {
	c := open(t)
	at := began.Add(time.Minute)
	must(t, c.Fulfil(at, Way{}, Fulfilment{Terms: arriving(t, 1), Taker: taker}))
	id := arriving(t, 1).ID()
	restricted, elsewhere, unknown := arriving(t, 2), arriving(t, 3), arriving(t, 4)
	restricted.AllowedTaker, elsewhere.TakeChain, unknown.GiveChain = keeper.Key[:], big.NewInt(ethereum), big.NewInt(999)
	for name, act := range map[string]func() error{
		"WrongTakeOrderStatus": func() error { return c.Fulfil(at, Way{}, Fulfilment{Terms: arriving(t, 1), Taker: taker}) },
		"WrongTaker":           func() error { return c.Fulfil(at, Way{}, Fulfilment{Terms: restricted, Taker: taker}) },
		"WrongTakeChain":       func() error { return c.Fulfil(at, Way{}, Fulfilment{Terms: elsewhere, Taker: taker}) },
		"NotSupportedChain":    func() error { return c.Fulfil(at, Way{}, Fulfilment{Terms: unknown, Taker: taker}) },
		"WrongUnlockAuthority": func() error { return c.SendUnlock(at, keeper, wallet, id) },
		"WrongCancelAuthority": func() error { return c.Cancel(at, arriving(t, 5), keeper) },
	} {
		count := len(c.transactions)
		err := act()
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
		if len(c.transactions) != count+1 || c.transactions[count].outcome.err == nil {
			t.Errorf("%s: the failed transaction is not on the chain", name)
		}
	}
	if status, _ := c.Taken(id); status != Fulfilled {
		t.Errorf("status %d after all refusals, want fulfilled", status)
	}
}

func TestMessagesOfABatchAreOne(t *testing.T) {
	c := open(t)
	var ids [][32]byte
	for n := range 3 {
		must(t, c.Fulfil(began.Add(time.Minute), Way{}, Fulfilment{Terms: arriving(t, uint64(n)), Taker: taker}))
		ids = append(ids, arriving(t, uint64(n)).ID())
	}
	must(t, c.SendUnlock(began.Add(2*time.Minute), taker, wallet, ids...))
	first, err := c.Message(ids[0])
	must(t, err)
	for _, id := range ids {
		if m, err := c.Message(id); err != nil || m.Submission != first.Submission || m.Submission == [32]byte{} {
			t.Errorf("message %x, %v, want %x", m.Submission, err, first.Submission)
		}
	}
	newest := c.transactions[len(c.transactions)-1]
	written, looked := newest.Message.NumWritableLookups(), newest.Message.NumLookups()
	if !newest.Message.IsVersioned() || written == 0 || looked == written {
		t.Error("the batch takes no accounts from a lookup table")
	}
}

func TestCancelledOrdersAreRefunded(t *testing.T) {
	c := open(t)
	o := offer(t, 1)
	o.Affiliate = &Affiliate{keeper.Key, 500}
	before := c.amount(o.Give.Wallet(maker.Key))
	orders, err := c.Create(began.Add(time.Minute), Way{}, o)
	must(t, err)
	id := orders[0].Terms.ID()
	must(t, c.PatchGive(began.Add(time.Minute), id, maker, 1_000_000))
	m := Inbound{From: ethereum, Beneficiary: maker.Key, Orders: [][32]byte{id}, Cancel: true}
	must(t, c.Claim(began.Add(2*time.Minute), keeper, m, false))
	if after := c.amount(o.Give.Wallet(maker.Key)); after != before || c.Given(id) != ClaimedCancel {
		t.Errorf("status %d, the maker has %d, want %d as before", c.Given(id), after, before)
	}
}

// Every transaction can be read back from its bytes by somebody who knows the format only.
func TestTransactionsAreSignedInWireForm(t *testing.T) {
	c := open(t)
	o := offer(t, 1)
	o.Payer = keeper
	_, err := c.Create(began.Add(time.Minute), Way{Versioned: true, Forwarded: true}, o)
	must(t, err)
	_, err = c.Create(began.Add(time.Minute), Way{}, offer(t, 2))
	must(t, err)
	for _, tx := range c.transactions {
		wire := tx.bytes(t)
		count, n := binary.Uvarint(wire)
		text := wire[n+int(count)*ed25519.SignatureSize:]
		header := text
		if versioned := text[0] == 0x80; versioned != tx.Message.IsVersioned() {
			t.Errorf("%s: prefix %#x", tx.Signatures[0], text[0])
		} else if versioned {
			header = text[1:]
		}
		if int(header[0]) != int(count) {
			t.Errorf("%s: %d signatures, %d required", tx.Signatures[0], count, header[0])
		}
		_, m := binary.Uvarint(header[3:])
		keys := header[3+m:]
		for i := range int(count) {
			key, signature := keys[32*i:32*i+32], wire[n+64*i:n+64*i+64]
			if !ed25519.Verify(key, text, signature) {
				t.Errorf("%s: signature %d does not fit", tx.Signatures[0], i)
			}
		}
	}
	if payer := c.transactions[0].Message.AccountKeys[0]; payer != keeper.Key {
		t.Errorf("payer %s, want the keeper", payer)
	}
}

func TestReorgDropsWhatIsNotFinal(t *testing.T) {
	c := open(t)
	kept, err := c.Create(began.Add(time.Minute), Way{}, offer(t, 1))
	must(t, err)
	c.Mine(50)
	balance := c.amount(named(t, usdc).Wallet(maker.Key))
	dropped, err := c.Create(began.Add(time.Minute), Way{}, offer(t, 2))
	must(t, err)
	c.Mine(3)
	head, hash := c.Head(), c.blockhash(c.Head())
	if err := c.Reorg(finalizedDepth + 10); err == nil {
		t.Error("a reorg dropped final slots")
	}
	must(t, c.Reorg(10))
	if c.Head() <= head || c.blockhash(head) == hash {
		t.Errorf("head %d after %d, and the old one still has its hash", c.Head(), head)
	}
	if c.Given(dropped[0].Terms.ID()) != Absent || c.Given(kept[0].Terms.ID()) != Created {
		t.Error("the reorg did not drop the newer order alone")
	}
	if now := c.amount(named(t, usdc).Wallet(maker.Key)); now != balance {
		t.Errorf("the maker has %d, want %d as before the dropped order", now, balance)
	}
	if _, err := c.Create(began.Add(time.Minute), Way{}, offer(t, 2)); err != nil {
		t.Errorf("the dropped order cannot be created again: %v", err)
	}
}
