package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/sandbox/contracts"
)

// historyLength is how long before the present the world's history begins.
const historyLength = 2 * time.Hour

// IDs of the EVM chains.
const (
	mainnet = 1
	polygon = 137
	base    = 8453
	sonic   = 100000014
)

// history is everything that happened before the sandbox was opened, written down as moves and then played.
type history struct {
	world *World
	moves []move
	count uint64 // of orders, for their salts
}

// move is one event, at a time relative to the history's beginning.
type move struct {
	at time.Duration
	do func(ctx context.Context, at time.Time) error
}

// play writes down the whole history and carries it out in chronological order.
func (w *World) play(ctx context.Context, beginning time.Time) error {
	h := &history{world: w}
	h.writeUpgrades()
	h.read(script)
	h.writeOthers()
	slices.SortStableFunc(h.moves, func(a, b move) int { return cmp.Compare(a.at, b.at) })
	for _, m := range h.moves {
		if err := m.do(ctx, beginning.Add(m.at)); err != nil {
			return fmt.Errorf("history at %s: %w", m.at, err)
		}
	}
	return nil
}

// at schedules a move, in minutes after the beginning.
func (h *history) at(minute float64, do func(ctx context.Context, at time.Time) error) {
	h.moves = append(h.moves, move{time.Duration(minute * float64(time.Minute)), do})
}

// Minutes at which the contracts of the older chains switch to today's events. They start with the older generation.
const (
	sourceUpgrade      = 16
	destinationUpgrade = 34
)

// startsLegacy reports whether a chain begins with the older generation of events.
func startsLegacy(c *Chain) bool { return c.Facts.ID == mainnet || c.Facts.ID == polygon }

// writeUpgrades schedules the owner's switch of the older chains' contracts to the newer generation of events.
func (h *history) writeUpgrades() {
	upgrade := func(minute float64, c *Chain, to func(*Chain) common.Address, contract *contracts.Contract) {
		data := contract.Pack("setLegacyEvents", false)
		h.at(minute, func(ctx context.Context, at time.Time) error {
			return h.world.transact(ctx, at, c.Facts.ID, h.world.cast.owner, to, data)
		})
	}
	for _, c := range h.world.chains {
		if startsLegacy(c) {
			upgrade(sourceUpgrade, c, (*Chain).dlnSource, contracts.DlnSource)
			upgrade(destinationUpgrade, c, (*Chain).dlnDestination, contracts.DlnDestination)
		}
	}
}

// orderMetadata returns the metadata that the protocol's own software writes into an order: version 1, source amount
// set, operating expenses and recommended take amount as 20 little-endian bytes each, 66 bytes in all.
func orderMetadata(takeAmount *big.Int) []byte {
	const length, expensesAt, recommendedAt, fieldLength = 66, 5, 25, 20
	metadata := make([]byte, length)
	metadata[0], metadata[1] = 1, 1
	expenses := new(big.Int).Div(takeAmount, big.NewInt(2500))
	for at, amount := range map[int]*big.Int{expensesAt: expenses, recommendedAt: takeAmount} {
		field := metadata[at : at+fieldLength]
		amount.FillBytes(field)
		slices.Reverse(field)
	}
	return metadata
}
