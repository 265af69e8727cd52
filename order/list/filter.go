package list

import (
	"fmt"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/store"
)

// Kind says whether a list holds orders, swaps, or both.
type Kind int

// Kinds of lists.
const (
	Orders Kind = iota
	Swaps       // within a chain
	Both
)

// Filter selects the rows of a list: those that match all fields. Absent and empty fields match everything. A swap has
// its chain on both sides, is fulfilled and has no external call; the caller of the router is its maker and creator.
// Search also finds its recipient and affiliate. It has no authorities, taker or trade type.
type Filter struct {
	GiveChains, TakeChains []chain.ID
	States                 []order.State
	Calls                  []order.ExternalCallState
	TradeType              string // in the order's metadata; one of TradeTypes
	Since, Until           uint64 // UNIX seconds of the creation, both included

	Maker, Creator                chain.Address // Creator sent the creating transaction
	Fulfiller                     chain.Address
	UnlockAuthorities             []chain.Address // matches any of them
	GiveAuthority, OrderAuthority chain.Address
	ReferralCode                  *uint32
	Search                        *Search

	Receiver             chain.Address
	GiveToken, TakeToken chain.Address // on the selected chains, or on any
	Given, Taken         Amounts       // amounts of GiveToken and TakeToken
	USD                  Amounts       // give values at the time, in millionths; unknown ones and swaps are in no range
	Sort                 Sort
}

// Amounts is a range of amounts, both ends included; nil means unbounded.
type Amounts struct{ From, To *chain.Amount }

// Sort is the sort order of a list.
type Sort string

// Sort orders. Rows of equal value are sorted newest first, those of the same second by ID.
const (
	Newest  Sort = "" // clients call it "Newest"
	Oldest  Sort = "Oldest"
	Largest Sort = "Largest" // by value; rows without a value come last
)

// Sorts are the clients' names of the sort orders.
var Sorts = []string{"Newest", string(Oldest), string(Largest)}

// isValued reports whether the filter limits values.
func (f Filter) isValued() bool { return f.USD != Amounts{} }

// TradeTypes returns the trade types that orders can have.
func TradeTypes() []string { return onchain.OrderTradeTypes() }

// Search finds an order or a swap by an address, a transaction or its ID. Absent fields match nothing.
type Search struct {
	Address chain.Address // maker, receiver, either authority, or affiliate's beneficiary
	Order   order.ID
	Tx      chain.TxHash // any transaction of an order, or that of a swap
}

// isPersonal reports whether the filter has a condition that few rows match and that an index sorted by time covers.
func (f Filter) isPersonal() bool {
	return f.Search != nil || len(f.UnlockAuthorities) > 0 || !f.Maker.IsAbsent() || !f.Creator.IsAbsent() ||
		!f.Receiver.IsAbsent() || !f.Fulfiller.IsAbsent() || !f.GiveAuthority.IsAbsent() || !f.OrderAuthority.IsAbsent()
}

// namesTokens reports whether the filter selects a token; many or few rows may have it.
func (f Filter) namesTokens() bool { return !f.GiveToken.IsAbsent() || !f.TakeToken.IsAbsent() }

func (f Filter) tokens() [2]chain.Address { return [2]chain.Address{f.GiveToken, f.TakeToken} }

// isOfOrders reports whether the filter can match only orders, whatever its cells.
func (f Filter) isOfOrders() bool {
	return f.isValued() || len(f.UnlockAuthorities) > 0 || !f.Fulfiller.IsAbsent() || !f.GiveAuthority.IsAbsent() || !f.OrderAuthority.IsAbsent()
}

// query collects the conditions of a statement and its arguments.
type query struct {
	conditions []string
	arguments  []any
}

// argument adds an argument and returns its placeholder.
func (q *query) argument(value any) string {
	q.arguments = append(q.arguments, value)
	return fmt.Sprintf("$%d", len(q.arguments))
}

func (q *query) add(condition string, values ...any) {
	marks := make([]any, len(values))
	for i, value := range values {
		marks[i] = q.argument(value)
	}
	q.conditions = append(q.conditions, fmt.Sprintf(condition, marks...))
}

func (q *query) where() string {
	if len(q.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(q.conditions, " AND ")
}

func (q *query) kind(k Kind) {
	switch k {
	case Orders:
		q.add("cell %% 8 <> 7")
	case Swaps:
		q.add("cell %% 8 = 7")
	}
}

// in requires a column to hold one of several numbers; if there are none, any.
func in[N ~uint64 | ~uint8](q *query, column string, numbers []N) {
	if len(numbers) == 0 {
		return
	}
	all := make([]int64, len(numbers))
	for i, n := range numbers {
		all[i] = int64(n)
	}
	q.add(column+" = ANY(%s)", all)
}

// counts requires a subject and the filter's cells, in listed_counts.
func (q *query) counts(k Kind, f Filter, c counting) {
	q.add("subject = "+c.subject, c.of...)
	q.kind(k)
	q.cells(f)
}

// cells requires the filter's chains, states and trade type in the cell.
func (q *query) cells(f Filter) {
	inCells := func(ids []chain.ID) (all []chain.ID) {
		for _, id := range ids {
			all = append(all, min(id, chainValues)) // a larger one is in no cell
		}
		return all
	}
	in(q, "cell / 68719476736", inCells(f.GiveChains))
	in(q, "cell / 512 %% 134217728", inCells(f.TakeChains))
	in(q, "cell / 64 %% 8", f.States)
	in(q, "cell / 8 %% 8", f.Calls)
	if f.TradeType != "" {
		q.add("cell %% 8 = %s", slices.Index(tradeTypes, f.TradeType))
	}
}

// keys requires everything that has its own index. A plus before a column keeps databases from using the index of a
// referral code, which many rows may share, if there is also an address.
func (q *query) keys(f Filter, column func(string) string, plus func(side int) string) {
	if !f.Maker.IsAbsent() {
		q.add(column(store.PrefixOf("maker"))+" = %s AND maker = %s", store.Prefix(f.Maker.Bytes()), f.Maker.Bytes())
	}
	q.person(f.Creator, part{"maker", "length(creator) = 1"}, other("creator"))
	q.person(f.Receiver, part{"maker", "length(receiver) = 1"}, other("receiver"))
	q.side(plus(0), "give", f.GiveToken, f.Given)
	q.side(plus(1), "take", f.TakeToken, f.Taken)
	q.person(f.GiveAuthority, part{"maker", "length(give_authority) = 1"}, other("give_authority"))
	q.person(f.OrderAuthority, part{"maker", "length(receiver) = 1 AND length(order_authority) = 1"},
		part{"receiver", "length(receiver) > 1 AND length(order_authority) = 1"}, other("order_authority"))
	if !f.Fulfiller.IsAbsent() {
		q.add(column("fulfiller")+" = "+store.AddressNumber+" AND fulfiller > 0", f.Fulfiller.Bytes())
	}
	switch len(f.UnlockAuthorities) {
	case 0:
	case 1: // this index sorts rows as the list does
		q.add(column("unlock_authority")+" = "+store.AddressNumber+" AND unlock_authority > 0", f.UnlockAuthorities[0].Bytes())
	default:
		authorities := make([][]byte, len(f.UnlockAuthorities))
		for i, a := range f.UnlockAuthorities {
			authorities[i] = a.Bytes()
		}
		q.add("unlock_authority IN (SELECT address_number FROM addresses WHERE address = ANY(%s)) AND unlock_authority > 0", authorities)
	}
	if f.ReferralCode != nil {
		column := "referral_code"
		if f.isPersonal() || f.namesTokens() {
			column = "+" + column
		}
		q.add(column+" = %s", int64(*f.ReferralCode))
	}
	if f.Search != nil {
		q.search(*f.Search)
	}
}

// side requires a token and a range of its amount.
func (q *query) side(plus, side string, token chain.Address, amounts Amounts) {
	if token.IsAbsent() {
		return
	}
	q.add(plus+side+"_token = "+store.AddressNumber, token.Bytes())
	if amounts.From != nil {
		q.add(side+"_amount >= %s", amountKey(*amounts.From))
	}
	if amounts.To != nil {
		q.add(side+"_amount <= %s", amountKey(*amounts.To))
	}
}

// values requires a range of values. A plus keeps databases from using the index of values.
func (q *query) values(f Filter, plus string) {
	micros := func(a *chain.Amount) int64 {
		n, _ := a.Uint64() // no larger value can be requested
		return store.Number(n)
	}
	if f.USD.From != nil {
		q.add(plus+"usd >= %s", micros(f.USD.From))
	} else if f.USD.To != nil {
		q.add("usd > %s", int64(unvalued))
	}
	if f.USD.To != nil {
		q.add(plus+"usd <= %s", micros(f.USD.To))
	}
}

// part is a place where an address may be in a row: a column with an indexed prefix, if a condition holds.
type part struct{ column, where string }

// other returns the part for an address stored in its own column: it is neither the maker's nor the receiver's.
func other(column string) part { return part{column, "length(" + column + ") > 1"} }

// person requires an address to be in one of several parts of a row.
func (q *query) person(a chain.Address, parts ...part) {
	if a.IsAbsent() {
		return
	}
	var ways union
	ways.person(a, parts...)
	q.anyOf(ways)
}

func (u *union) person(a chain.Address, parts ...part) {
	for _, each := range parts {
		u.add("SELECT key FROM listed WHERE "+store.PrefixOf(each.column)+" = %s AND "+each.column+" = %s AND "+each.where,
			store.Prefix(a.Bytes()), a.Bytes())
	}
}

// search requires one field of a search to match. Each uses its own index, unlike conditions combined by OR.
func (q *query) search(s Search) {
	var ways union
	if !s.Address.IsAbsent() {
		ways.person(s.Address, part{"maker", "1 = 1"}, other("receiver"), other("give_authority"), other("order_authority"),
			part{"affiliate", "length(affiliate) > 0"})
	}
	if !s.Tx.IsAbsent() {
		tx := s.Tx.Bytes()
		ways.add("SELECT key FROM events JOIN orders ON number = order_number JOIN listed ON "+
			store.PrefixOf("listed.id")+" = "+store.PrefixOf("orders.id")+" AND listed.id = orders.id WHERE "+store.PrefixOf("tx")+" = %s AND tx = %s", store.Prefix(tx), tx)
		ways.add("SELECT key FROM swaps JOIN listed ON "+store.PrefixOf("listed.id")+" = "+store.PrefixOf("swaps.id")+" AND listed.id = swaps.id "+
			"WHERE "+store.PrefixOf("tx")+" = %s AND tx = %s", store.Prefix(tx), tx)
	}
	if s.Order != (order.ID{}) {
		ways.add("SELECT key FROM listed WHERE "+store.PrefixOf("id")+" = %s AND id = %s", store.Prefix(s.Order[:]), s.Order[:])
	}
	q.anyOf(ways)
}

// union collects statements that select keys, and their arguments.
type union struct {
	statements []string
	values     []any
}

func (u *union) add(statement string, values ...[]byte) {
	u.statements = append(u.statements, statement)
	for _, value := range values {
		u.values = append(u.values, value)
	}
}

// anyOf requires one of the statements to select the row.
func (q *query) anyOf(u union) {
	if len(u.statements) == 0 {
		q.add("1 = 0")
		return
	}
	q.add("key IN ("+strings.Join(u.statements, " UNION ALL ")+")", u.values...)
}
