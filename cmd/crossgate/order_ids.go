package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"crossgate/chain"
)

// readOrderIDs reads a list of order ids: a JSON array of them, or one per line with empty lines in between.
func readOrderIDs(from io.Reader) ([]chain.Hash, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil, errors.New("no order id in it")
	}
	if text[0] != '[' {
		return readOrderIDLines(text)
	}
	var listed []string
	if err := json.Unmarshal(text, &listed); err != nil {
		return nil, fmt.Errorf("want a JSON array of order ids: %w", err)
	}
	if len(listed) == 0 {
		return nil, errors.New("no order id in it")
	}
	ids := make([]chain.Hash, len(listed))
	for i, each := range listed {
		if ids[i], err = chain.ParseHash(each); err != nil {
			return nil, fmt.Errorf("order id %d: %w", i+1, err)
		}
	}
	return ids, nil
}

func readOrderIDLines(text []byte) (ids []chain.Hash, err error) {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		id, err := chain.ParseHash(string(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
