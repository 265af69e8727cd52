package index

import (
	"encoding/json"
	"fmt"

	"crossgate/order"
)

// decoders read what encodeFact wrote, by kind. Kinds and member names are stored: renaming one of them,
// or a field of a fact, needs a migration.
var decoders = map[string]func(text []byte) (order.Fact, error){
	"created":        decode[order.Created],
	"give_increased": decode[order.GiveIncreased],
	"take_decreased": decode[order.TakeDecreased],
	"fulfilled":      decode[order.Fulfilled],
	"sent":           decode[order.Sent],
	"claimed":        decode[order.Claimed],
	"cancelled":      decode[order.Cancelled],
	"external_call":  decode[order.ExternalCall],
}

func decode[F order.Fact](text []byte) (order.Fact, error) {
	var fact F
	err := json.Unmarshal(text, &fact)
	return fact, err
}

func kindOf(fact order.Fact) string {
	switch fact.(type) {
	case order.Created:
		return "created"
	case order.GiveIncreased:
		return "give_increased"
	case order.TakeDecreased:
		return "take_decreased"
	case order.Fulfilled:
		return "fulfilled"
	case order.Sent:
		return "sent"
	case order.Claimed:
		return "claimed"
	case order.Cancelled:
		return "cancelled"
	case order.ExternalCall:
		return "external_call"
	}
	panic(fmt.Sprintf("index: fact %T has no kind", fact))
}

func encodeFact(fact order.Fact) (kind, text string, err error) {
	raw, err := json.Marshal(fact)
	return kindOf(fact), string(raw), err
}

func decodeFact(kind, text string) (order.Fact, error) {
	read, known := decoders[kind]
	if !known {
		return nil, fmt.Errorf("fact of unknown kind %q", kind)
	}
	fact, err := read([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return fact, nil
}
