package solana

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"math"
	"slices"

	"github.com/mr-tron/base58"

	"crossgate/sandbox/jsonrpc"
)

type accountOptions struct {
	view
	Encoding string `json:"encoding"`
	Slice    *struct {
		Offset int `json:"offset"`
		Length int `json:"length"`
	} `json:"dataSlice"`
}

// cut returns the part of an account's data that the client asks for.
func (o accountOptions) cut(data []byte) ([]byte, error) {
	switch {
	case o.Slice == nil:
		return data, nil
	case o.Slice.Offset < 0 || o.Slice.Length < 0:
		return nil, invalid("Invalid params: invalid dataSlice")
	}
	from := min(o.Slice.Offset, len(data))
	return data[from:min(from+o.Slice.Length, len(data))], nil
}

// encode encodes bytes in the encoding that the client names.
func encode(data []byte, encoding string) ([]string, error) {
	switch encoding {
	case "base64":
		return []string{base64.StdEncoding.EncodeToString(data), encoding}, nil
	case "base58":
		return []string{base58.Encode(data), encoding}, nil
	}
	return nil, invalid("the sandbox writes base58 and base64, not %q", encoding)
}

// show returns the account as clients see it.
func (a *account) show(o accountOptions) (any, error) {
	data, err := o.cut(a.data)
	if err != nil {
		return nil, err
	}
	const mostBase58 = 128
	isBare := o.Encoding == "" || o.Encoding == "binary"
	if isBare {
		o.Encoding = "base58"
	}
	if o.Encoding == "base58" && len(data) > mostBase58 {
		const message = "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding."
		return nil, refuse(jsonrpc.InvalidRequest, message)
	}
	encoded, err := encode(data, o.Encoding)
	if err != nil {
		return nil, err
	}
	shown := object{
		"executable": a.executable, "lamports": a.lamports, "owner": a.owner, "space": len(a.data), "data": encoded,
		"rentEpoch": uint64(math.MaxUint64), // as for rent-exempt accounts
	}
	if isBare {
		shown["data"] = encoded[0]
	}
	return shown, nil
}

// showAt returns an account as of the end of a slot, or nil if there was none.
func (c *Chain) showAt(k Key, o accountOptions) (any, error) {
	content := c.accountAt(k, o.slot)
	if content == nil {
		return nil, nil
	}
	return content.show(o)
}

func (c *Chain) getAccountInfo(k Key, o accountOptions) (any, error) {
	shown, err := c.showAt(k, o)
	return at(o.slot, shown), err
}

func (c *Chain) getMultipleAccounts(keys []Key, o accountOptions) (any, error) {
	const most = 100
	if len(keys) > most {
		return nil, invalid("Too many inputs provided; max %d", most)
	}
	o.Encoding = cmp.Or(o.Encoding, "base64")
	values := make([]any, len(keys))
	for i, k := range keys {
		var err error
		if values[i], err = c.showAt(k, o); err != nil {
			return nil, err
		}
	}
	return at(o.slot, values), nil
}

func (c *Chain) getBalance(k Key, v view) (any, error) {
	var lamports uint64
	if content := c.accountAt(k, v.slot); content != nil {
		lamports = content.lamports
	}
	return at(v.slot, lamports), nil
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

// prepare decodes the bytes that the filter compares.
func (f *filter) prepare() (err error) {
	const most = 128
	switch {
	case f.Memcmp == nil && f.DataSize != nil:
		return nil
	case f.Memcmp == nil || f.Memcmp.Offset < 0:
		return invalid("Invalid params: a filter is a dataSize or a memcmp")
	case f.Memcmp.Encoding == "base64":
		f.wanted, err = base64.StdEncoding.DecodeString(f.Memcmp.Bytes)
	default:
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

type programOptions struct {
	accountOptions
	Filters     []filter `json:"filters"`
	WithContext bool     `json:"withContext"`
}

func (c *Chain) getProgramAccounts(program Key, o programOptions) (any, error) {
	const mostFilters = 4
	if len(o.Filters) > mostFilters {
		return nil, invalid("Too many filters provided; max %d", mostFilters)
	}
	for i := range o.Filters {
		if err := o.Filters[i].prepare(); err != nil {
			return nil, err
		}
	}
	keys := []Key{}
	for k := range c.accounts {
		content := c.accountAt(k, o.slot)
		isFit := func(f filter) bool { return !f.fits(content.data) }
		if content != nil && content.owner == program && !slices.ContainsFunc(o.Filters, isFit) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.String(), b.String()) })
	accounts := make([]object, len(keys))
	for i, k := range keys {
		shown, err := c.showAt(k, o.accountOptions)
		if err != nil {
			return nil, err
		}
		accounts[i] = object{"pubkey": k, "account": shown}
	}
	if o.WithContext {
		return at(o.slot, accounts), nil
	}
	return accounts, nil
}
