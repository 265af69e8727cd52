package ledger

import (
	"encoding/json"
	"fmt"
	"reflect"

	"crossgate/order"
)

// kinds names the facts as they are stored. Kinds and member names are in databases: renaming one of them, or a field
// of a fact, needs a migration.
var kinds = map[string]reflect.Type{
	"created":        reflect.TypeFor[order.Created](),
	"give_increased": reflect.TypeFor[order.GiveIncreased](),
	"take_decreased": reflect.TypeFor[order.TakeDecreased](),
	"fulfilled":      reflect.TypeFor[order.Fulfilled](),
	"sent":           reflect.TypeFor[order.Sent](),
	"claimed":        reflect.TypeFor[order.Claimed](),
	"cancelled":      reflect.TypeFor[order.Cancelled](),
	"external_call":  reflect.TypeFor[order.ExternalCall](),
}

func encodeFact(fact order.Fact) (kind, text string, err error) {
	for name, of := range kinds {
		if of == reflect.TypeOf(fact) {
			raw, err := json.Marshal(fact)
			return name, string(raw), err
		}
	}
	panic(fmt.Sprintf("index: fact %T has no kind", fact))
}

func decodeFact(kind, text string) (order.Fact, error) {
	of, known := kinds[kind]
	if !known {
		return nil, fmt.Errorf("fact of unknown kind %q", kind)
	}
	fact := reflect.New(of)
	if err := json.Unmarshal([]byte(text), fact.Interface()); err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return fact.Elem().Interface().(order.Fact), nil
}
