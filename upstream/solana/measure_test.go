package solana

import (
	"encoding/binary"
	"testing"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/upstream/jsonrpc"
)

// Parties and tokens of the measured transactions.
var (
	mary, bert, eve = account("mary, who sends"), account("bert, who receives"), account("eve, a stranger")
	inMint, outMint = account("mint of what goes in"), account("mint of what comes out")
	wrappedCoin     = account("mint of the wrapped coin")
	spare           = account("mint of what mary has besides")
	coin            = chain.NativeCoin(chain.SVM)
)

func account(text string) chain.Address {
	return chain.NewAddress(append([]byte(text), make([]byte, solana.KeySize-len(text))...))
}

const tokenRent = 2_039_280

// wallet returns an account that holds only lamports.
func wallet(lamports uint64) *accountInfo {
	return &accountInfo{Owner: solana.Base58{Address: solana.SystemProgram}, Lamports: lamports}
}

// tokens returns a token account; the bytes at changed are set to one.
func tokens(mint, owner chain.Address, amount uint64, changed ...int) *accountInfo {
	data := make([]byte, tokenAccountSize)
	copy(data[mintOffset:], mint.Bytes())
	copy(data[ownerOffset:], owner.Bytes())
	binary.LittleEndian.PutUint64(data[amountOffset:], amount)
	for _, at := range changed {
		data[at] = 1
	}
	state := &accountInfo{Owner: solana.Base58{Address: solana.TokenProgram}, Data: data, Lamports: tokenRent}
	if mint == wrappedCoin {
		state.Lamports += amount
	}
	return state
}

// associated returns the owner's associated account for a token.
func associated(owner, mint chain.Address) chain.Address { return holdings(mint, owner)[1] }

// watching returns mary's own account, which pays a fee of 5,000 lamports and changes by the given ones, and others.
func watching(lost, gained uint64, others ...watched) []watched {
	const had, cost = 9_000_000_000, 5000
	return append([]watched{watch(mary, wallet(had), wallet(had-cost-lost+gained))}, others...)
}

// TestWhatTransactionsOnSolanaAreSeenToDo covers swaps of 1,000 of a token, or of the coin.
func TestWhatTransactionsOnSolanaAreSeenToDo(t *testing.T) {
	spent := watch(associated(mary, inMint), tokens(inMint, mary, 1500), tokens(inMint, mary, 500))
	got := func(owner chain.Address, changed ...int) watched {
		return watch(associated(owner, outMint), nil, tokens(outMint, owner, 70, changed...))
	}
	elsewhere := account("an account of no custom")
	state := func(size int, lamports uint64) watched {
		return watch(elsewhere, nil, &accountInfo{Owner: solana.Base58{Address: solana.MemoProgram}, Data: make([]byte, size), Lamports: lamports})
	}
	const refused = -1
	for name, row := range map[string]struct {
		in, out, to chain.Address
		accounts    []watched
		want        int64
	}{
		"a token, into a new account":       {inMint, outMint, mary, watching(tokenRent, 0, spent, got(mary)), 70},
		"a token, into another's account":   {inMint, outMint, bert, watching(tokenRent, 0, spent, got(bert)), 70},
		"a token for the coin":              {coin, outMint, mary, watching(1000+tokenRent, 0, got(mary)), 70},
		"into an account with some":         {inMint, outMint, mary, watching(0, 0, spent, watch(associated(mary, outMint), tokens(outMint, mary, 30, delegateTag), tokens(outMint, mary, 100, delegateTag))), 70},
		"into one that somebody put coins":  {inMint, outMint, mary, watching(tokenRent-1, 0, spent, watch(associated(mary, outMint), wallet(1), tokens(outMint, mary, 70))), 70},
		"the other token program":           {inMint, outMint, mary, watching(tokenRent, 0, spent, watch(holdings(outMint, mary)[2], nil, tokens(outMint, mary, 70))), 70},
		"nothing to anybody":                {inMint, outMint, mary, watching(0, 0, spent), 0},
		"a stranger's account":              {inMint, outMint, mary, watching(0, 0, spent, watch(associated(eve, outMint), tokens(outMint, eve, 1), tokens(outMint, eve, 71))), 0},
		"the recipient's, which eve owns":   {inMint, outMint, bert, watching(0, 0, spent, watch(associated(bert, outMint), tokens(outMint, eve, 0), tokens(outMint, eve, 70))), 0},
		"one that eve may take from":        {inMint, outMint, bert, watching(tokenRent, 0, spent, got(bert, delegateTag)), 0},
		"one that eve may take from since":  {inMint, outMint, bert, watching(0, 0, spent, watch(associated(bert, outMint), tokens(outMint, bert, 0), tokens(outMint, bert, 70, delegateTag))), 0},
		"another token":                     {inMint, outMint, mary, watching(0, 0, spent, watch(associated(mary, outMint), nil, tokens(spare, mary, 70))), 0},
		"an account of no custom":           {inMint, outMint, mary, watching(tokenRent, 0, spent, watch(elsewhere, nil, tokens(outMint, mary, 70))), 0},
		"a little of the coin as well":      {inMint, outMint, mary, watching(1, 0, spent), refused},
		"more of the input":                 {inMint, outMint, mary, watching(0, 0, watch(associated(mary, inMint), tokens(inMint, mary, 1500), tokens(inMint, mary, 499))), refused},
		"the input from two accounts":       {inMint, outMint, mary, watching(0, 0, spent, watch(elsewhere, tokens(inMint, mary, 5), tokens(inMint, mary, 4))), refused},
		"more of the coin than goes in":     {coin, outMint, mary, watching(1001, 0), refused},
		"another token of mary's":           {inMint, outMint, mary, watching(0, 0, spent, watch(elsewhere, tokens(spare, mary, 9), tokens(spare, mary, 8))), refused},
		"an approval":                       {inMint, outMint, mary, watching(0, 0, watch(associated(mary, inMint), tokens(inMint, mary, 1500), tokens(inMint, mary, 500, delegateTag))), refused},
		"somebody who may close":            {inMint, outMint, mary, watching(0, 0, spent, watch(elsewhere, tokens(spare, mary, 9), tokens(spare, mary, 9, closerTag))), refused},
		"another owner":                     {inMint, outMint, mary, watching(0, 0, spent, watch(elsewhere, tokens(spare, mary, 9), tokens(spare, eve, 9))), refused},
		"another owner of mary's wallet":    {inMint, outMint, mary, []watched{watch(mary, wallet(9), &accountInfo{Owner: solana.Base58{Address: solana.MemoProgram}, Lamports: 9})}, refused},
		"mary's wallet as a nonce":          {inMint, outMint, mary, []watched{watch(mary, wallet(9), &accountInfo{Owner: solana.Base58{Address: solana.SystemProgram}, Data: []byte{1}, Lamports: 9})}, refused},
		"all that mary has":                 {inMint, outMint, mary, []watched{watch(mary, wallet(9_000_000), nil)}, refused},
		"an account for a stranger":         {inMint, outMint, mary, watching(tokenRent, 0, spent, watch(associated(eve, outMint), nil, tokens(outMint, eve, 70))), refused},
		"a closed account, eve's heir":      {inMint, outMint, mary, watching(0, 0, spent, watch(elsewhere, tokens(spare, mary, 0), nil)), refused},
		"a closed account, mary the heir":   {inMint, outMint, mary, watching(tokenRent, tokenRent, spent, got(mary), watch(elsewhere, tokens(spare, mary, 0), nil)), 70},
		"what a program keeps of mary":      {inMint, outMint, mary, watching(tokenRent+1_844_400, 0, spent, got(mary), state(137, 1_844_400)), 70},
		"more than its rent":                {inMint, outMint, mary, watching(1_844_401, 0, spent, state(137, 1_844_401)), refused},
		"very much of it":                   {inMint, outMint, mary, watching(70_490_880, 0, spent, state(10_000, 70_490_880)), refused},
		"the coin":                          {inMint, coin, mary, watching(0, 70, spent), 70},
		"the coin for another":              {inMint, coin, bert, watching(0, 0, spent, watch(bert, nil, wallet(70))), 70},
		"the coin for another, and eve":     {inMint, coin, bert, watching(0, 0, spent, watch(bert, nil, wallet(70)), watch(eve, nil, wallet(30))), 70},
		"a token, and bert is richer":       {inMint, outMint, bert, watching(tokenRent, 0, spent, got(bert), watch(bert, nil, wallet(30))), 70},
		"as much as may lie on accounts":    {inMint, outMint, mary, watching(6_000_000, 0, spent, state(1000, 6_000_000)), 0},
		"more than may lie on accounts":     {inMint, outMint, mary, watching(6_000_001, 0, spent, state(1000, 6_000_001)), refused},
		"the coin for a stranger":           {inMint, coin, mary, watching(0, 0, spent, watch(eve, nil, wallet(70))), 0},
		"the coin, and rent on the way":     {inMint, coin, mary, watching(tokenRent, 70, spent, got(mary)), 70},
		"the coin, less a gift":             {inMint, coin, mary, watching(10, 70, spent, watch(eve, nil, wallet(10))), 60},
		"the coin, still wrapped":           {inMint, coin, mary, watching(tokenRent, 0, spent, watch(associated(mary, wrappedCoin), nil, tokens(wrappedCoin, mary, 70))), 0},
		"the coin, and what was wrapped":    {inMint, coin, mary, watching(0, 500+tokenRent+70, spent, watch(associated(mary, wrappedCoin), tokens(wrappedCoin, mary, 500), nil)), 70},
		"the wrapped coin":                  {inMint, wrappedCoin, mary, watching(tokenRent, 0, spent, watch(associated(mary, wrappedCoin), nil, tokens(wrappedCoin, mary, 70))), 70},
		"the wrapped coin, out of her own":  {inMint, wrappedCoin, mary, watching(tokenRent+70, 0, spent, watch(associated(mary, wrappedCoin), nil, tokens(wrappedCoin, mary, 70))), 0},
		"the wrapped coin, that eve closes": {inMint, wrappedCoin, bert, watching(0, 0, spent, watch(associated(bert, wrappedCoin), tokens(wrappedCoin, bert, 0, closerTag), tokens(wrappedCoin, bert, 70, closerTag))), 0},
		"the wrapped coin goes in":          {wrappedCoin, outMint, mary, watching(tokenRent, 0, got(mary), watch(associated(mary, wrappedCoin), tokens(wrappedCoin, mary, 1500), tokens(wrappedCoin, mary, 500))), 70},
	} {
		m := measurement{
			Simulation: quote.Simulation{Sender: mary, Recipient: row.to, In: row.in, Out: row.out, AmountIn: chain.NewAmount(1000)},
			wrapped:    wrappedCoin, payable: holdings(row.out, row.to)[1:], accounts: row.accounts, cost: chain.NewAmount(5000),
		}
		got, err := m.received()
		if (err != nil) != (row.want == refused) || err == nil && got != chain.NewAmount(uint64(row.want)) {
			t.Errorf("%s: received %s, %v, want %d", name, got, err, row.want)
		}
	}
}

// TestTipsAreCosts, unlike other payments.
func TestTipsAreCosts(t *testing.T) {
	paid := solana.Draft{FeePayer: mary, Instructions: []solana.DraftInstruction{
		solana.Transfer(mary, tipAccounts[0], 7), solana.Transfer(mary, account("somebody"), 9),
	}}
	m := must.Get(solana.ParseUnsigned(must.Get(paid.Compile())(t)))(t)
	if got := cost(m); got != chain.NewAmount(5007) {
		t.Errorf("a signature and a tip of 7 cost %s, want 5007", got)
	}
}

// TestWhoLacksWhatASwapTakes covers the coin, apart from the reserve, and a token.
func TestWhoLacksWhatASwapTakes(t *testing.T) {
	coin := quote.Simulation{In: chain.NativeCoin(chain.SVM), AmountIn: chain.NewAmount(10)}
	spent := quote.Simulation{In: inMint, AmountIn: chain.NewAmount(10)}
	for _, row := range []struct {
		name   string
		of     quote.Simulation
		states []*accountInfo
		lacks  bool
	}{
		{"too little of the coin", coin, []*accountInfo{wallet(reserveLamports + 9)}, true},
		{"enough of the coin", coin, []*accountInfo{wallet(reserveLamports + 10)}, false},
		{"too little of a token", spent, []*accountInfo{wallet(reserveLamports), tokens(inMint, mary, 9)}, true},
		{"too little for fees", spent, []*accountInfo{wallet(reserveLamports - 1), tokens(inMint, mary, 10)}, true},
		{"enough of a token", spent, []*accountInfo{wallet(reserveLamports), tokens(inMint, mary, 10)}, false},
	} {
		if err := lack(row.of, row.states); (err != nil) != row.lacks {
			t.Errorf("%s: %v, lacking: %t", row.name, err, row.lacks)
		}
	}
}

// TestNoBlockIsNoAnswer: an endpoint may return null for a block that it has listed.
func TestNoBlockIsNoAnswer(t *testing.T) {
	var none *block
	for name, asked := range map[string]*jsonrpc.Call{
		"content": contentCall(&none, 1, "none"), "existing": existingBlockCall(&none, 1, "none"), "named": namedBlockCall(&none, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if asked.Accept(&none) == nil {
				t.Error("null is accepted")
			}
		})
	}
}
