package orders

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"crossgate/chain"
	"crossgate/order/list"
	"crossgate/proxy"
)

// longestNumber is the largest whole number that every JSON library reads exactly.
const longestNumber = 1<<53 - 1

// Members are the members of a JSON object in a request's body. Like the hosted service, they treat null as absent.
type Members struct{ proxy.Query }

// readMembers reads the body of a request, whatever its Content-Type.
func readMembers(c *gin.Context) (*Members, error) {
	body, err := proxy.ReadBody(c)
	if err != nil {
		return nil, err
	}
	return ParseMembers(body)
}

func ParseMembers(body []byte) (*Members, error) {
	read, err := proxy.ReadJSON(body)
	return &Members{read}, err
}

func (m *Members) err() error { return m.Problem(proxy.InvalidBody) }

func (m *Members) text(name string) string { return strings.TrimSpace(m.Optional(name)) }

// amounts returns a range of amounts in smallest units of a token, without which they mean nothing.
func (m *Members) amounts(name string, token chain.Address, tokenName string) (of list.Amounts) {
	for end, into := range map[string]**chain.Amount{"From": &of.From, "To": &of.To} {
		text := m.text(name + end)
		if text == "" {
			continue
		}
		amount, err := chain.ParseAmount(text)
		if err != nil {
			m.Mistake(name + end + " must be a whole number of the token's smallest units")
		}
		if *into = &amount; token.IsAbsent() {
			m.Mistake(name + end + " needs " + tokenName)
		}
	}
	return of
}

// usd returns an amount of USD in millionths, nil if absent.
func (m *Members) usd(name string) *chain.Amount {
	text := m.text(name)
	if text == "" {
		return nil
	}
	if strings.Trim(text, "0123456789.") == "" { // no exponent, which might be huge
		if micros, is := new(big.Rat).SetString(text); is && micros.Mul(micros, big.NewRat(1_000_000, 1)).IsInt() && micros.Num().IsInt64() {
			return new(chain.NewAmount(micros.Num().Uint64()))
		}
	}
	m.Mistake(name + " must be an amount of USD from 0 with at most 6 decimals")
	return nil
}

// longestList limits the values of a list, including repeated ones.
const longestList = 100

// list returns the values of a list; a single value is a list of one.
func (m *Members) list(name string) []string {
	return bounded(m, name, m.All(name))
}

// bounded returns the values of a list, or records a mistake and returns nil if there are too many.
func bounded[V any](m *Members, name string, values []V) []V {
	if len(values) > longestList {
		m.Mistake(fmt.Sprintf("%s must have at most %d values, not %d", name, longestList, len(values)))
		return nil
	}
	return values
}

// chains returns chain ids, including those of chains without orders.
func (m *Members) chains(name string) (ids []chain.ID) {
	for _, value := range m.list(name) {
		id, err := chain.ParseID(value)
		if err != nil || uint64(id) >= 1<<63 {
			m.Mistake(name + " must be a list of chain ids")
			return nil
		}
		ids = proxy.AddOnce(ids, id)
	}
	return ids
}

// word returns the known word that a string equals in any case, empty if absent.
func (m *Members) word(name string, known []string) string {
	text := m.text(name)
	if text == "" {
		return ""
	}
	at := indexOfWord(known, text)
	if at < 0 {
		m.Mistake(name + " must be one of the following values: " + strings.Join(known, ", "))
		return ""
	}
	return known[at]
}

// words returns the known values that a list spells, matched as word does.
func words[V comparable](m *Members, name string, known []V, spell func(V) string) (values []V) {
	spelled := make([]string, len(known))
	for i, value := range known {
		spelled[i] = spell(value)
	}
	for _, text := range m.list(name) {
		at := indexOfWord(spelled, strings.TrimSpace(text))
		if at < 0 {
			m.Mistake(name + " must be a list of the following values: " + strings.Join(spelled, ", "))
			return nil
		}
		values = proxy.AddOnce(values, known[at])
	}
	return values
}

func indexOfWord(known []string, text string) int {
	return slices.IndexFunc(known, func(each string) bool { return strings.EqualFold(each, text) })
}

// address returns the address that a string spells, absent if the string is.
func (m *Members) address(name string) chain.Address {
	text := m.text(name)
	if text == "" {
		return chain.Address{}
	}
	return m.Address(name, text, chain.UnknownFamily)
}

// addresses returns the addresses in a string that joins them with spaces, or in a list of strings.
func (m *Members) addresses(name string) (all []chain.Address) {
	for _, text := range m.list(name) {
		for _, field := range bounded(m, name, strings.Fields(text)) {
			all = proxy.AddOnce(all, m.Address(name, field, chain.UnknownFamily))
		}
	}
	return bounded(m, name, all)
}
