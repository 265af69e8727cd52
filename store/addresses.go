package store

import (
	"context"
	"database/sql"

	"crossgate/chain"
)

// AddressNumber is the SQL expression for the number of an address passed as an argument.
const AddressNumber = `(SELECT address_number FROM addresses WHERE address = %s)`

// AddressNumbers returns the numbers stored in place of addresses, and assigns numbers to new ones. An absent address
// has 0.
func (tx *Tx) AddressNumbers(ctx context.Context, all ...chain.Address) (map[chain.Address]int64, error) {
	numbers := make(map[chain.Address]int64)
	var keys [][]byte
	for _, a := range all {
		if _, isKnown := numbers[a]; !isKnown && !a.IsAbsent() {
			keys = append(keys, a.Bytes())
		}
		numbers[a] = 0
	}
	if len(keys) == 0 {
		return numbers, nil
	}
	var last int64 // highest number in use
	err := tx.ForEachRow(ctx, func(rows *sql.Rows) error {
		var a chain.Address
		var number int64
		err := rows.Scan(AddressColumn(&a), &number)
		numbers[a], last = number, max(last, number)
		return err
	}, `SELECT address, address_number FROM addresses WHERE address = ANY($1)
		OR address_number = (SELECT MAX(address_number) FROM addresses)`, keys)
	var rows [][]any
	for _, key := range keys {
		if a := chain.NewAddress(key); numbers[a] == 0 {
			last++
			numbers[a], rows = last, append(rows, []any{last, key})
		}
	}
	if err == nil {
		err = tx.ExecEach(ctx, `INSERT INTO addresses (address_number, address) VALUES ($1, $2)`, rows)
	}
	return numbers, err
}
