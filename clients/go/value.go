package crossgate

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
)

// Amount is a whole number of smallest units; nil if absent.
type Amount struct{ *big.Int }

// UnmarshalJSON decodes a decimal, or the API's object of encodings.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	text, err := textIn(raw)
	if err != nil || text == "" {
		return err
	}
	whole, isWhole := new(big.Int).SetString(text, 10)
	if !isWhole {
		return fmt.Errorf("%q is not an amount", text)
	}
	a.Int = whole
	return nil
}

// Text is an address, hash or id in the form of its chain; empty if absent.
type Text string

// UnmarshalJSON decodes a string, or the API's object of encodings.
func (t *Text) UnmarshalJSON(raw []byte) error {
	text, err := textIn(raw)
	*t = Text(text)
	return err
}

// ChainID is a chain's EIP-155 number; Solana's is 7565164. The API's number, which differs for some, is converted.
type ChainID uint64

// UnmarshalJSON decodes the API's number, or its object of encodings.
func (id *ChainID) UnmarshalJSON(raw []byte) error {
	text, err := textIn(raw)
	if err != nil {
		return err
	}
	api, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("chain: %w", err)
	}
	*id = ChainID(api)
	for native, renumbered := range apiIDs {
		if renumbered == api {
			*id = native
		}
	}
	return nil
}

// MarshalJSON encodes the API's number.
func (id ChainID) MarshalJSON() ([]byte, error) { return strconv.AppendUint(nil, id.API(), 10), nil }

func (id ChainID) text() string { return strconv.FormatUint(id.API(), 10) }

// API returns the API's number of the chain, such as 100000002 for Gnosis's 100.
func (id ChainID) API() uint64 {
	if api, isRenumbered := apiIDs[id]; isRenumbered {
		return api
	}
	return uint64(id)
}

// apiIDs are the API's numbers of chains whose EIP-155 number differs.
var apiIDs = map[ChainID]uint64{
	245022934: 100000001, // Neon
	100:       100000002, // Gnosis
	32769:     100000008, // Zilliqa
	747:       100000009, // Flow
	1514:      100000013, // Story
	146:       100000014, // Sonic
	2741:      100000017, // Abstract
	25:        100000019, // Cronos
	80094:     100000020, // Berachain
	60808:     100000021, // BOB
	999:       100000022, // HyperEVM
	5000:      100000023, // Mantle
	50104:     100000025, // Sophon
	728126428: 100000026, // TRON
	1329:      100000027, // Sei
	9745:      100000028, // Plasma
	1776:      100000029, // Injective
	143:       100000030, // Monad
	4326:      100000031, // MegaETH
}

// textIn returns the text of a value, which may be one of several encodings in an object.
func textIn(raw []byte) (text string, err error) {
	switch raw[0] {
	case '{':
		var encodings struct {
			Text string `json:"stringValue"`
		}
		err = json.Unmarshal(raw, &encodings)
		return encodings.Text, err
	case '"', 'n':
		err = json.Unmarshal(raw, &text)
		return text, err
	}
	return string(raw), nil
}
