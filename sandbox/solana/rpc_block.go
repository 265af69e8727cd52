package solana

import (
	"cmp"
	"slices"
)

// latest returns the blockhash of a slot and the last block height at which it is valid.
func (c *Chain) latest(slot uint64) object {
	return object{"blockhash": c.blockhash(slot), "lastValidBlockHeight": height(slot) + hashLife}
}

// checkBlock rejects slots for which a node has no block.
func (c *Chain) checkBlock(slot, newest uint64) error {
	switch {
	case slot > newest:
		return refuse(codeBlockNotAvailable, "Block not available for slot %d", slot)
	case slot <= firstSlot:
		const format = "Block %d cleaned up, does not exist on node. First available block: %d"
		return refuse(codeBlockCleanedUp, format, slot, next(firstSlot))
	case isSkipped(slot):
		return refuse(codeSlotSkipped, "Slot %d was skipped, or missing due to ledger jump to recent snapshot", slot)
	}
	return nil
}

func (c *Chain) getBlockTime(slot uint64) (any, error) {
	return c.timeOf(slot), c.checkBlock(slot, c.head)
}

func (c *Chain) getBlocks(from uint64, end *uint64, o history) (any, error) {
	const widest = 500_000
	to := o.slot
	if end != nil {
		to = *end
	}
	slots := []uint64{}
	switch {
	case to < from:
		return slots, nil
	case to-from > widest:
		return nil, invalid("Slot range too large; max %d", widest)
	}
	for slot := max(from, next(firstSlot)); slot <= min(to, o.slot); slot++ {
		if !isSkipped(slot) {
			slots = append(slots, slot)
		}
	}
	return slots, nil
}

type blockOptions struct {
	transactionOptions
	Details string `json:"transactionDetails"`
	Rewards *bool  `json:"rewards"`
}

func (c *Chain) getBlock(slot uint64, o blockOptions) (any, error) {
	if err := c.checkBlock(slot, o.slot); err != nil {
		return nil, err
	}
	b := object{
		"blockHeight": height(slot), "blockTime": c.timeOf(slot), "blockhash": c.blockhash(slot),
		"parentSlot": previous(slot), "previousBlockhash": c.blockhash(previous(slot)),
	}
	if o.Rewards == nil || *o.Rewards {
		b["rewards"] = []any{}
	}
	switch o.Details {
	case "none":
	case "signatures":
		signatures := []Signature{}
		for _, t := range c.within(slot) {
			signatures = append(signatures, t.Signatures[0])
		}
		b["signatures"] = signatures
	case "accounts":
		transactions := []any{}
		for _, t := range c.within(slot) {
			transactions = append(transactions, t.showAccounts())
		}
		b["transactions"] = transactions
	case "", "full":
		transactions := []any{}
		for _, t := range c.within(slot) {
			shown, err := t.show(o.transactionOptions)
			if err != nil {
				return nil, err
			}
			transactions = append(transactions, shown)
		}
		b["transactions"] = transactions
	default:
		return nil, invalid("Invalid params: unknown variant `%s`, expected one of `full`, `signatures`, `none`, `accounts`", o.Details)
	}
	return b, nil
}

// within returns the transactions of a slot.
func (c *Chain) within(slot uint64) []*transaction {
	compare := func(t *transaction, slot uint64) int { return cmp.Compare(t.slot, slot) }
	from, _ := slices.BinarySearchFunc(c.transactions, slot, compare)
	to, _ := slices.BinarySearchFunc(c.transactions, slot+1, compare)
	return c.transactions[from:to]
}

func (c *Chain) getRecentPrioritizationFees(addresses *[]Key) (any, error) {
	const mostAddresses = 128
	var wanted []Key
	if addresses != nil {
		wanted = *addresses
	}
	if len(wanted) > mostAddresses {
		return nil, invalid("Too many inputs provided; max %d", mostAddresses)
	}
	var fees []object
	for slot := c.head; len(fees) < hashLife && slot > firstSlot; slot = previous(slot) {
		fees = append(fees, object{"slot": slot, "prioritizationFee": c.lowestPrice(slot, wanted)})
	}
	slices.Reverse(fees)
	return fees, nil
}

// lowestPrice returns the lowest bid of a slot's transactions that wrote all of the addresses.
func (c *Chain) lowestPrice(slot uint64, addresses []Key) uint64 {
	lowest, found := uint64(0), false
	for _, t := range c.within(slot) {
		spares := func(address Key) bool { return !t.isWritable(address) }
		if !slices.ContainsFunc(addresses, spares) && (!found || t.outcome.price < lowest) {
			lowest, found = t.outcome.price, true
		}
	}
	return lowest
}
