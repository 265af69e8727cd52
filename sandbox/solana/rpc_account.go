package solana

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"math"
	"slices"

	"github.com/mr-tron/base58"
)

type accountOptions struct {
	commitmentOption
	Encoding string `json:"encoding"`
	Slice    *struct {
		Offset int `json:"offset"`
		Length int `json:"length"`
	} `json:"dataSlice"`
}

type accountOut struct {
	Data       any    `json:"data"`
	Executable bool   `json:"executable"`
	Lamports   uint64 `json:"lamports"`
	Owner      Key    `json:"owner"`
	RentEpoch  uint64 `json:"rentEpoch"` // exempt accounts show the greatest number
	Space      int    `json:"space"`
}

func (h *held) look(o accountOptions) (*accountOut, error) {
	out := &accountOut{Executable: h.executable, Lamports: h.lamports, Owner: h.owner, RentEpoch: math.MaxUint64, Space: len(h.data)}
	data := h.data
	if o.Slice != nil {
		if o.Slice.Offset < 0 || o.Slice.Length < 0 {
			return nil, invalid("Invalid params: invalid dataSlice")
		}
		from := min(o.Slice.Offset, len(data))
		data = data[from:min(from+o.Slice.Length, len(data))]
	}
	const mostBase58 = 128
	switch o.Encoding {
	case "base64":
		out.Data = []string{base64.StdEncoding.EncodeToString(data), "base64"}
	case "", "binary", "base58":
		if len(data) > mostBase58 {
			return nil, &rpcError{Code: codeInvalidRequest, Message: "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding."}
		}
		out.Data = []string{base58.Encode(data), "base58"}
		if o.Encoding != "base58" {
			out.Data = base58.Encode(data)
		}
	default:
		return nil, invalid("the sandbox shows accounts as base58 and base64, not as %q", o.Encoding)
	}
	return out, nil
}

// shownAt is an account as it was at the end of a slot; nil when there was none.
func (c *Chain) shownAt(k Key, slot uint64, o accountOptions) (any, error) {
	content := c.accountAt(k, slot)
	if content == nil || content.lamports == 0 {
		return nil, nil
	}
	return content.look(o)
}

func (c *Chain) getAccountInfo(p params) (any, error) {
	k, err := p.key(0)
	if err != nil {
		return nil, err
	}
	var o accountOptions
	if err := p.read(1, &o, true); err != nil {
		return nil, err
	}
	slot, err := c.slot(o.Commitment)
	if err != nil {
		return nil, err
	}
	account, err := c.shownAt(k, slot, o)
	return at(slot, account), err
}

func (c *Chain) getMultipleAccounts(p params) (any, error) {
	const most = 100
	var texts []string
	if err := p.read(0, &texts, false); err != nil {
		return nil, err
	}
	if len(texts) > most {
		return nil, invalid("Too many inputs provided; max %d", most)
	}
	o := accountOptions{Encoding: "base64"}
	if err := p.read(1, &o, true); err != nil {
		return nil, err
	}
	slot, err := c.slot(o.Commitment)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(texts))
	for i, text := range texts {
		k, err := ParseKey(text)
		if err != nil {
			return nil, invalid("Invalid param: WrongSize")
		}
		if values[i], err = c.shownAt(k, slot, o); err != nil {
			return nil, err
		}
	}
	return at(slot, values), nil
}

func (c *Chain) getBalance(p params) (any, error) {
	k, err := p.key(0)
	if err != nil {
		return nil, err
	}
	slot, err := c.newest(p, 1)
	if err != nil {
		return nil, err
	}
	var lamports uint64
	if content := c.accountAt(k, slot); content != nil {
		lamports = content.lamports
	}
	return at(slot, lamports), nil
}

func (c *Chain) getMinimumBalanceForRentExemption(p params) (any, error) {
	var size int
	if err := p.read(0, &size, false); err != nil {
		return nil, err
	}
	return rent(size), nil
}

// filter is one condition of getProgramAccounts.
type filter struct {
	DataSize *int `json:"dataSize"`
	Memcmp   *struct {
		Offset   int    `json:"offset"`
		Bytes    string `json:"bytes"`
		Encoding string `json:"encoding"`
	} `json:"memcmp"`

	wanted []byte
}

// prepare decodes what the filter compares with.
func (f *filter) prepare() (err error) {
	const most = 128
	if f.DataSize != nil && f.Memcmp == nil {
		return nil
	}
	if f.Memcmp == nil || f.Memcmp.Offset < 0 {
		return invalid("Invalid params: a filter is a dataSize or a memcmp")
	}
	if f.Memcmp.Encoding == "base64" {
		f.wanted, err = base64.StdEncoding.DecodeString(f.Memcmp.Bytes)
	} else {
		f.wanted, err = base58.Decode(f.Memcmp.Bytes)
	}
	if err != nil || len(f.wanted) > most {
		return invalid("Invalid param: Invalid memcmp bytes")
	}
	return nil
}

func (f *filter) fits(data []byte) bool {
	if f.Memcmp == nil {
		return len(data) == *f.DataSize
	}
	return f.Memcmp.Offset <= len(data) && bytes.HasPrefix(data[f.Memcmp.Offset:], f.wanted)
}

func (c *Chain) getProgramAccounts(p params) (any, error) {
	const mostFilters = 4
	program, err := p.key(0)
	if err != nil {
		return nil, err
	}
	var o struct {
		accountOptions
		Filters     []filter `json:"filters"`
		WithContext bool     `json:"withContext"`
	}
	if err := p.read(1, &o, true); err != nil {
		return nil, err
	}
	if len(o.Filters) > mostFilters {
		return nil, invalid("Too many filters provided; max %d", mostFilters)
	}
	for i := range o.Filters {
		if err := o.Filters[i].prepare(); err != nil {
			return nil, err
		}
	}
	slot, err := c.slot(o.Commitment)
	if err != nil {
		return nil, err
	}
	accounts, err := c.ownedBy(program, slot, o.Filters, o.accountOptions)
	if err != nil {
		return nil, err
	}
	if o.WithContext {
		return at(slot, accounts), nil
	}
	return accounts, nil
}

type ownedAccount struct {
	Account *accountOut `json:"account"`
	Pubkey  Key         `json:"pubkey"`
}

func (c *Chain) ownedBy(program Key, slot uint64, filters []filter, o accountOptions) ([]ownedAccount, error) {
	found := []ownedAccount{}
	for k := range c.accounts {
		content := c.accountAt(k, slot)
		if content == nil || content.owner != program || content.lamports == 0 ||
			slices.ContainsFunc(filters, func(f filter) bool { return !f.fits(content.data) }) {
			continue
		}
		shown, err := content.look(o)
		if err != nil {
			return nil, err
		}
		found = append(found, ownedAccount{shown, k})
	}
	slices.SortFunc(found, func(a, b ownedAccount) int { return cmp.Compare(a.Pubkey.String(), b.Pubkey.String()) })
	return found, nil
}
