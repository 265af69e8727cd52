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

// Kind is orders, swaps, or both.
type Kind int

// Kinds of lists.
const (
	Orders Kind = iota
	Swaps       // within a chain
	Both
)

// Filter says what a list holds: what all of its members match. Absent and empty members match everything. A swap has
// its chain on both sides, is fulfilled and has no external call; who called the router is its maker and creator, its
// recipient and affiliate are searched for; it has no authorities, taker or type of trade.
type Filter struct {
	GiveChains, TakeChains []chain.ID
	States                 []order.State
	Calls                  []order.ExternalCallState
	TradeType              string // of the order's metadata, one of TradeTypes
	Since, Until           uint64 // UNIX seconds, both included: when it was created

	Maker, Creator                chain.Address // Creator signed the creation
	Fulfiller                     chain.Address
	UnlockAuthorities             []chain.Address // any of them
	GiveAuthority, OrderAuthority chain.Address
	ReferralCode                  *uint32
	Search                        *Search

	Receiver             chain.Address
	GiveToken, TakeToken chain.Address // on the chains that are asked for, or on any
	Given, Taken         Amounts       // of that token
	USD                  USD
	Sort                 Sort
}

// Amounts are a range of amounts, both ends included; nil: without an end.
type Amounts struct{ From, To *chain.Amount }

// USD is a range of values given, millionths of a USD at the time, both ends included; nil: without an end. Orders
// whose value is not known, and swaps, are in none.
type USD struct{ From, To *int64 }

// Sort is the sequence of a list.
type Sort string

// Sorts. Of the same value the newest come first, of the same second ids are in sequence.
const (
	Newest  Sort = "" // "Newest" for clients
	Oldest  Sort = "Oldest"
	Largest Sort = "Largest" // by value; those without one come last
)

// Sorts are what clients call them.
var Sorts = []string{"Newest", string(Oldest), string(Largest)}

// isValued reports whether values decide about rows.
func (f Filter) isValued() bool { return f.USD != USD{} }

// TradeTypes are the types of trades that orders are known by.
func TradeTypes() []string { return onchain.OrderTradeTypes() }

// Search is a text that names an order or a swap by an address, a transaction or its id. Absent members match nothing.
type Search struct {
	Address chain.Address // maker, receiver, either authority, or beneficiary of the affiliate fee
	Order   order.ID
	Tx      chain.TxHash // any of an order's, or a swap's
}

// isPersonal reports whether the filter names something that few rows have, which has an index by time of its own.
func (f Filter) isPersonal() bool {
	return f.Search != nil || len(f.UnlockAuthorities) > 0 || !f.Maker.IsAbsent() || !f.Creator.IsAbsent() ||
		!f.Receiver.IsAbsent() || !f.Fulfiller.IsAbsent() || !f.GiveAuthority.IsAbsent() || !f.OrderAuthority.IsAbsent()
}

// namesTokens reports whether the filter names a token: many rows may have it, or few.
func (f Filter) namesTokens() bool { return !f.GiveToken.IsAbsent() || !f.TakeToken.IsAbsent() }

func (f Filter) tokens() [2]chain.Address { return [2]chain.Address{f.GiveToken, f.TakeToken} }

// isOfOrders reports whether the filter matches no swap, whatever cells it asks for.
func (f Filter) isOfOrders() bool {
	return f.isValued() || len(f.UnlockAuthorities) > 0 || !f.Fulfiller.IsAbsent() || !f.GiveAuthority.IsAbsent() || !f.OrderAuthority.IsAbsent()
}

// query collects the conditions of a statement and its arguments.
type query struct {
	conditions []string
	arguments  []any
}

// argument returns the placeholder of one more.
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

// in requires that a column holds one of some numbers; of none, anything.
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

// counts requires of listed_counts the subject and the cells that are asked for.
func (q *query) counts(k Kind, f Filter, c counting) {
	q.add("subject = "+c.subject, c.of...)
	q.kind(k)
	q.cells(f)
}

// cells requires values of the cell.
func (q *query) cells(f Filter) {
	modulo := func(ids []chain.ID) (all []chain.ID) {
		for _, id := range ids {
			all = append(all, id%chainValues)
		}
		return all
	}
	in(q, "cell / 68719476736", modulo(f.GiveChains))
	in(q, "cell / 512 %% 134217728", modulo(f.TakeChains))
	in(q, "cell / 64 %% 8", f.States)
	in(q, "cell / 8 %% 8", f.Calls)
	if f.TradeType != "" {
		q.add("cell %% 8 = %s", slices.Index(tradeTypes, f.TradeType))
	}
}

// keys requires what has an index of its own. A plus keeps databases from searching by a referral code, which many rows
// may share, where a person is named too.
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
	case 1: // its rows are in the sequence of the list
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

// side requires a token, and an amount of it.
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

// values requires a value. A plus keeps databases from searching by it.
func (q *query) values(f Filter, plus string) {
	if f.USD.From != nil {
		q.add(plus+"usd >= %s", max(*f.USD.From, 0))
	} else if f.USD.To != nil {
		q.add("usd > %s", int64(unvalued))
	}
	if f.USD.To != nil {
		q.add(plus+"usd <= %s", *f.USD.To)
	}
}

// part is how a person is in a row: in a column whose first bytes an index has, where a condition holds.
type part struct{ column, where string }

// other is a part of a person who is neither the maker nor the receiver, and so is in its index.
func other(column string) part { return part{column, "length(" + column + ") > 1"} }

// person requires that an address has one of some parts in a row.
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

// search requires that one member of a search matches. Each is answered by an index of its own, as OR would not be.
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

// union is statements that find keys, with their values.
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

// anyOf requires that one of some statements finds the row.
func (q *query) anyOf(u union) {
	if len(u.statements) == 0 {
		q.add("1 = 0")
		return
	}
	q.add("key IN ("+strings.Join(u.statements, " UNION ALL ")+")", u.values...)
}
