package index

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"crossgate/chain"
	"crossgate/token"
)

// Tokens returns what was kept of tokens by KeepTokens; others are left out.
func (s *Store) Tokens(ctx context.Context, keys []token.Key) (known map[token.Key]token.Reading, err error) {
	ctx, end := s.startSpan(ctx, "SELECT", "tokens")
	defer func() { end(err) }()
	byChain := map[chain.ID][]chain.Address{}
	for _, key := range keys {
		byChain[key.Chain] = append(byChain[key.Chain], key.Address)
	}
	const atOnce = 500 // parameters of a statement
	known = make(map[token.Key]token.Reading, len(keys))
	for id, addresses := range byChain {
		for part := range slices.Chunk(addresses, atOnce) {
			if err := s.tokensOn(ctx, id, part, known); err != nil {
				return known, fmt.Errorf("read tokens of chain %d: %w", id, explain(err))
			}
		}
	}
	return known, nil
}

func (s *Store) tokensOn(ctx context.Context, id chain.ID, addresses []chain.Address, known map[token.Key]token.Reading) error {
	marks, arguments := make([]string, len(addresses)), make([]any, 0, len(addresses)+1)
	arguments = append(arguments, id)
	for i, address := range addresses {
		marks[i] = "$" + strconv.Itoa(i+2)
		arguments = append(arguments, blob(address.Bytes()))
	}
	rows, err := s.reader.QueryContext(ctx, `SELECT address, decimals, name, symbol FROM tokens
		WHERE chain = $1 AND address IN (`+strings.Join(marks, ", ")+`)`, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var address chain.Address
		r := token.Reading{Decimals: new(uint8)}
		if err := rows.Scan(addressColumn{&address}, r.Decimals, &r.Name, &r.Symbol); err != nil {
			return err
		}
		known[token.Key{Chain: id, Address: address}] = r
	}
	return rows.Err()
}

// KeepTokens keeps what tokens said of themselves, as far as they told their decimals: others may be
// deployed later.
func (s *Store) KeepTokens(ctx context.Context, readings map[token.Key]token.Reading) error {
	var rows [][]any
	for key, r := range readings {
		if r.Decimals != nil {
			rows = append(rows, []any{key.Chain, blob(key.Address.Bytes()), int(*r.Decimals), r.Name, r.Symbol})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	ctx, end := s.startSpan(ctx, "INSERT", "tokens")
	err := s.change(ctx, func(tx *transaction) error {
		return tx.execEach(ctx, `INSERT INTO tokens (chain, address, decimals, name, symbol) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (chain, address) DO UPDATE SET decimals = excluded.decimals, name = excluded.name, symbol = excluded.symbol`, rows)
	})
	end(err)
	if err != nil {
		return fmt.Errorf("keep %d tokens: %w", len(rows), err)
	}
	return nil
}
