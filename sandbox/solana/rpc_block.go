package solana

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mr-tron/base58"
)

// nodeVersion is the release whose answers these are.
const nodeVersion = "2.3.8"

// featureSet is what that release says of itself beside its number.
const featureSet = 3_640_012_085

type commitmentOption struct {
	Commitment string `json:"commitment"`
}

// newest reads a commitment at a place of the parameters.
func (c *Chain) newest(p params, at int) (uint64, error) {
	var o commitmentOption
	if err := p.read(at, &o, true); err != nil {
		return 0, err
	}
	return c.slot(o.Commitment)
}

func (c *Chain) getSlot(p params) (any, error) { return c.newest(p, 0) }

func (c *Chain) getBlockHeight(p params) (any, error) {
	slot, err := c.newest(p, 0)
	return height(slot), err
}

func (c *Chain) getLatestBlockhash(p params) (any, error) {
	slot, err := c.newest(p, 0)
	if err != nil {
		return nil, err
	}
	return at(slot, c.latest(slot)), nil
}

// genesisHash is the real chain's (github.com/firedancer-io/firedancer, MAINNET_BETA_GENESIS_HASH): whoever makes
// sure that a node serves mainnet must find it here.
const genesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"

func (c *Chain) getGenesisHash(params) (any, error) {
	return genesisHash, nil
}

func (c *Chain) getHealth(params) (any, error) { return "ok", nil }

func (c *Chain) getVersion(params) (any, error) {
	return map[string]any{"solana-core": nodeVersion, "feature-set": featureSet}, nil
}

func (c *Chain) getFirstAvailableBlock(params) (any, error) { return next(firstSlot), nil }

// hasBlock refuses slots of which a node has no block.
func (c *Chain) hasBlock(slot, newest uint64) error {
	switch {
	case slot > newest:
		return &rpcError{Code: codeBlockNotAvailable, Message: fmt.Sprintf("Block not available for slot %d", slot)}
	case slot <= firstSlot:
		return &rpcError{Code: codeBlockCleanedUp, Message: fmt.Sprintf(
			"Block %d cleaned up, does not exist on node. First available block: %d", slot, next(firstSlot))}
	case isSkipped(slot):
		return &rpcError{Code: codeSlotSkipped, Message: fmt.Sprintf("Slot %d was skipped, or missing due to ledger jump to recent snapshot", slot)}
	}
	return nil
}

func (c *Chain) getBlockTime(p params) (any, error) {
	var slot uint64
	if err := p.read(0, &slot, false); err != nil {
		return nil, err
	}
	if err := c.hasBlock(slot, c.head); err != nil {
		return nil, err
	}
	return c.timeOf(slot), nil
}

func (c *Chain) getBlocks(p params) (any, error) {
	const widest = 500_000
	var from uint64
	if err := p.read(0, &from, false); err != nil {
		return nil, err
	}
	place, to := 1, uint64(0)
	hasEnd := len(p) > 1 && json.Unmarshal(p[1], &to) == nil && string(p[1]) != "null"
	if hasEnd {
		place = 2
	}
	var o commitmentOption
	if err := p.read(place, &o, true); err != nil {
		return nil, err
	}
	newest, err := c.settledSlot(o.Commitment)
	if err != nil {
		return nil, err
	}
	if !hasEnd {
		to = newest
	}
	slots := []uint64{}
	if to < from {
		return slots, nil
	}
	if to-from > widest {
		return nil, invalid("Slot range too large; max %d", widest)
	}
	for slot := max(from, next(firstSlot)); slot <= min(to, newest); slot++ {
		if !isSkipped(slot) {
			slots = append(slots, slot)
		}
	}
	return slots, nil
}

type block struct {
	BlockHeight       uint64      `json:"blockHeight"`
	BlockTime         int64       `json:"blockTime"`
	Blockhash         string      `json:"blockhash"`
	ParentSlot        uint64      `json:"parentSlot"`
	PreviousBlockhash string      `json:"previousBlockhash"`
	Rewards           *[]any      `json:"rewards,omitempty"`
	Signatures        []Signature `json:"signatures,omitzero"`
	Transactions      []any       `json:"transactions,omitzero"`
}

func (c *Chain) getBlock(p params) (any, error) {
	var slot uint64
	if err := p.read(0, &slot, false); err != nil {
		return nil, err
	}
	o := struct {
		transactionOptions
		Details string `json:"transactionDetails"`
		Rewards *bool  `json:"rewards"`
	}{Details: "full"}
	if err := p.read(1, &o, true); err != nil {
		return nil, err
	}
	newest, err := c.settledSlot(o.Commitment)
	if err != nil {
		return nil, err
	}
	if err := c.hasBlock(slot, newest); err != nil {
		return nil, err
	}
	hash, before := c.blockhash(slot), c.blockhash(previous(slot))
	b := block{
		BlockHeight: height(slot), BlockTime: c.timeOf(slot), Blockhash: base58.Encode(hash[:]),
		ParentSlot: previous(slot), PreviousBlockhash: base58.Encode(before[:]),
	}
	if o.Rewards == nil || *o.Rewards {
		b.Rewards = &[]any{}
	}
	return b, b.add(c.within(slot), o.Details, o.transactionOptions)
}

// within are the transactions of a slot.
func (c *Chain) within(slot uint64) []*recorded {
	from, _ := slices.BinarySearchFunc(c.transactions, slot, func(tx *recorded, slot uint64) int {
		return int(int64(tx.slot) - int64(slot))
	})
	to := from
	for to < len(c.transactions) && c.transactions[to].slot == slot {
		to++
	}
	return c.transactions[from:to]
}

// add puts the transactions in, in the wanted detail.
func (b *block) add(transactions []*recorded, details string, o transactionOptions) error {
	switch details {
	case "none":
	case "signatures":
		b.Signatures = []Signature{}
		for _, tx := range transactions {
			b.Signatures = append(b.Signatures, tx.signatures[0])
		}
	case "full":
		b.Transactions = []any{}
		for _, tx := range transactions {
			shown, err := tx.look(o)
			if err != nil {
				return err
			}
			b.Transactions = append(b.Transactions, shown)
		}
	default:
		return invalid("Invalid params: unknown variant `%s`, expected one of `full`, `signatures`, `none`", details)
	}
	return nil
}

func (c *Chain) getRecentPrioritizationFees(p params) (any, error) {
	const mostAddresses = 128
	var addresses []Key
	if err := p.read(0, &addresses, true); err != nil {
		return nil, err
	}
	if len(addresses) > mostAddresses {
		return nil, invalid("Too many inputs provided; max %d", mostAddresses)
	}
	type fee struct {
		Slot uint64 `json:"slot"`
		Fee  uint64 `json:"prioritizationFee"`
	}
	var fees []fee
	for slot := c.head; len(fees) < hashLife && slot > firstSlot; slot = previous(slot) {
		fees = append(fees, fee{slot, c.lowestPrice(slot, addresses)})
	}
	slices.Reverse(fees)
	return fees, nil
}

// lowestPrice is the least that a transaction of a slot bid among those that wrote all addresses.
func (c *Chain) lowestPrice(slot uint64, addresses []Key) uint64 {
	lowest, found := uint64(0), false
	for _, tx := range c.within(slot) {
		wrote := true
		for _, address := range addresses {
			at := slices.Index(tx.message.keys(), address)
			wrote = wrote && at >= 0 && tx.message.writable(at)
		}
		if wrote && (!found || tx.outcome.price < lowest) {
			lowest, found = tx.outcome.price, true
		}
	}
	return lowest
}
