package index

import (
	"fmt"

	"crossgate/chain"
)

// blob is how bytes are handed to a database: none are an empty value, never NULL.
func blob(raw []byte) []byte {
	if raw == nil {
		return []byte{}
	}
	return raw
}

// bytesOf returns what a driver read from a column of bytes.
func bytesOf(column any) ([]byte, error) {
	switch value := column.(type) {
	case []byte:
		return value, nil
	case nil:
		return nil, nil // how SQLite's driver tells of an empty value
	}
	return nil, fmt.Errorf("column holds %T, not bytes", column)
}

type hashColumn struct{ into *chain.Hash }

// Scan implements sql.Scanner.
func (c hashColumn) Scan(column any) error {
	raw, err := bytesOf(column)
	if err == nil && len(raw) != len(c.into) {
		err = fmt.Errorf("column holds %d bytes, not a hash", len(raw))
	}
	if err != nil {
		return err
	}
	*c.into = chain.Hash(raw)
	return nil
}

type addressColumn struct{ into *chain.Address }

// Scan implements sql.Scanner.
func (c addressColumn) Scan(column any) error {
	raw, err := bytesOf(column)
	*c.into = chain.NewAddress(raw)
	return err
}

type txColumn struct{ into *chain.TxHash }

// Scan implements sql.Scanner.
func (c txColumn) Scan(column any) error {
	raw, err := bytesOf(column)
	*c.into = chain.NewTxHash(raw)
	return err
}
