package solana

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// Codes of error objects (github.com/anza-xyz/agave, rpc-client-api/src/custom_error.rs).
const (
	blockCleanedUp      = -32001 // earlier than the node's oldest block
	blockNotAvailable   = -32004 // later than the node's newest block
	slotSkipped         = -32007
	longTermSlotSkipped = -32009
	blockStatusUnknown  = -32014 // the node has not stored the block yet
	versionUnsupported  = -32015 // a transaction has a newer version than requested
	minSlotNotReached   = -32016 // the node has not reached the required slot
)

// newestVersion is the newest transaction version that we can read, and that nodes should return.
const newestVersion = 1

func isCode(err error, codes ...int) bool {
	_, is := jsonrpc.Said(err, func(said *jsonrpc.Error) bool { return slices.Contains(codes, said.Code) })
	return is
}

// isBehind reports whether a node is behind others.
func isBehind(said *jsonrpc.Error) bool {
	return slices.Contains([]int{blockNotAvailable, blockStatusUnknown, minSlotNotReached}, said.Code)
}

// isHole reports whether a node lacks the block of a slot.
func isHole(err error) bool {
	return isCode(err, slotSkipped, longTermSlotSkipped, blockCleanedUp, blockNotAvailable, blockStatusUnknown)
}

const confirmed = "confirmed"

type blockHash chain.Hash

func (h *blockHash) UnmarshalText(text []byte) error {
	parsed, err := chain.ParseSolanaHash(string(text))
	*h = blockHash(parsed)
	return err
}

// payload is bytes, decoded from a pair of text and encoding, which must be base64.
type payload []byte

func (p *payload) UnmarshalJSON(text []byte) error {
	var pair []string
	if err := json.Unmarshal(text, &pair); err != nil || len(pair) != 2 || pair[1] != "base64" {
		return errors.New("not bytes in base64")
	}
	raw, err := base64.StdEncoding.DecodeString(pair[0])
	*p = raw
	return err
}

// block holds the members of a block that we read.
type block struct {
	Blockhash         blockHash `json:"blockhash"`
	PreviousBlockhash blockHash `json:"previousBlockhash"`
	ParentSlot        uint64    `json:"parentSlot"`
	BlockTime         *int64    `json:"blockTime"` // UNIX seconds; nil before the cluster voted on time

	Signatures   []chain.TxHash `json:"signatures"`   // of its transactions, if requested
	Transactions []named        `json:"transactions"` // if requested
}

// named is a transaction in a block with the accounts that it names, including those of lookup tables.
type named struct {
	Transaction struct {
		Accounts []struct {
			Address solana.Base58 `json:"pubkey"`
		} `json:"accountKeys"`
		Signatures []chain.TxHash `json:"signatures"`
	} `json:"transaction"`
	Meta *struct {
		Err json.RawMessage `json:"err"`
	} `json:"meta"`
}

// names reports whether the transaction succeeded and names one of the programs.
func (n named) names(programs []*program) bool {
	return n.Meta != nil && isNull(n.Meta.Err) && slices.ContainsFunc(programs, func(p *program) bool {
		for _, each := range n.Transaction.Accounts {
			if each.Address.Address == p.address {
				return true
			}
		}
		return false
	})
}

func (b *block) in(slot uint64) order.Block {
	return order.Block{Number: slot, Hash: chain.Hash(b.Blockhash), Parent: chain.Hash(b.PreviousBlockhash), Time: seconds(b.BlockTime)}
}

func seconds(time *int64) uint64 {
	if time == nil || *time < 0 {
		return 0
	}
	return uint64(*time)
}

// signature is an entry in a list of the transactions that name an account.
type signature struct {
	Signature chain.TxHash    `json:"signature"`
	Slot      uint64          `json:"slot"`
	Status    string          `json:"confirmationStatus"`
	Err       json.RawMessage `json:"err"`
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// options is the object of settings at the end of a call's parameters.
type options map[string]any

func slotCall(out *uint64, commitment string) *jsonrpc.Call {
	asked := jsonrpc.NewCall(out, nil, "getSlot", options{"commitment": commitment})
	if commitment == confirmed {
		asked.Head = func(result any) uint64 { return *result.(*uint64) }
	}
	return asked
}

// finalCall asks for the newest final slot. One far behind the newest seen is doubted: proofs would wait for it.
func (c *Chain) finalCall(out *uint64) *jsonrpc.Call {
	asked := slotCall(out, "finalized")
	jsonrpc.Greater(asked, cmp.Compare[uint64])
	asked.Doubt = func(result any) bool { return *result.(*uint64)+nearSlots < max(c.newest.Load(), c.chain.FirstBlock) }
	return asked
}

// HeadCall asks only for the newest slot.
func HeadCall() *jsonrpc.Call { return slotCall(new(uint64), confirmed) }

// blockCall asks for the block of a slot without its content.
func blockCall(out **block, slot uint64) *jsonrpc.Call { return contentCall(out, slot, "none") }

// namedBlockCall asks for the block of a slot with the accounts that its transactions name: some megabytes on mainnet.
func namedBlockCall(out **block, slot uint64) *jsonrpc.Call {
	c := existingBlockCall(out, slot, "accounts")
	accept := c.Accept
	c.Accept = func(result any) error {
		if err := accept(result); err != nil {
			return err
		}
		for _, each := range (*result.(**block)).Transactions {
			if len(each.Transaction.Signatures) == 0 || each.Meta == nil {
				return errors.New("transaction without signature or outcome")
			}
		}
		return nil
	}
	return c
}

// existingBlockCall asks for the block of a slot that has one, with details of its content. A node that is behind is
// asked again.
func existingBlockCall(out **block, slot uint64, details string) *jsonrpc.Call {
	c := contentCall(out, slot, details)
	c.Passing = isBehind
	c.Same = func(a, b any) bool {
		own, other := *a.(**block), *b.(**block)
		return own.Blockhash == other.Blockhash && seconds(own.BlockTime) == seconds(other.BlockTime)
	}
	return c
}

const getBlock = "getBlock"

func contentCall(out **block, slot uint64, details string) *jsonrpc.Call {
	return jsonrpc.NewCall(out, func(b *block) error {
		if b == nil || chain.Hash(b.Blockhash).IsAbsent() || slot > 0 && chain.Hash(b.PreviousBlockhash).IsAbsent() {
			return errors.New("block without its hash or its parent's")
		}
		return nil
	}, getBlock, slot, options{
		"commitment": confirmed, "transactionDetails": details, "rewards": false, "maxSupportedTransactionVersion": newestVersion,
	})
}

// blocksCall asks which slots between two have a block, both included.
func blocksCall(out *[]uint64, from, to uint64) *jsonrpc.Call {
	return jsonrpc.NewCall(out, func(slots []uint64) error {
		isEachLater := slices.IsSorted(slots) && len(slices.Compact(slices.Clone(slots))) == len(slots)
		if !isEachLater || len(slots) > 0 && (slots[0] < from || slots[len(slots)-1] > to) {
			return errors.New("slots outside the requested range")
		}
		return nil
	}, "getBlocks", from, to, options{"commitment": confirmed})
}

// transactionCall asks for a transaction; out stays nil if the node does not know it.
func transactionCall(out **transaction, tx chain.TxHash) *jsonrpc.Call {
	return jsonrpc.NewCall(out, func(t *transaction) error {
		if t == nil {
			return nil
		}
		return t.read(tx)
	}, "getTransaction", tx, options{
		"commitment": confirmed, "encoding": "base64", "maxSupportedTransactionVersion": newestVersion,
	})
}

// accountInfo holds the members of an account that we read.
type accountInfo struct {
	Data     payload       `json:"data"`
	Owner    solana.Base58 `json:"owner"`
	Lamports uint64        `json:"lamports"`

	IsProgram bool `json:"executable"`
}

type accountInfos struct {
	Value []*accountInfo `json:"value"` // nil for a missing account
}

// holdingsCall is readCall limited to the size of a token account: the accounts of pools can have megabytes.
func holdingsCall(out *accountInfos, accounts []chain.Address) *jsonrpc.Call {
	part := options{"offset": 0, "length": tokenAccountSize}
	return readCall(out, accounts, options{"commitment": confirmed, "encoding": "base64", "dataSlice": part})
}

func readCall(out *accountInfos, accounts []chain.Address, o options) *jsonrpc.Call {
	keys := make([]string, len(accounts))
	for i, each := range accounts {
		keys[i] = each.Format(chain.SVM)
	}
	return jsonrpc.NewCall(out, func(answer accountInfos) error {
		if len(answer.Value) != len(keys) {
			return errors.New("wrong number of accounts")
		}
		return nil
	}, "getMultipleAccounts", keys, o)
}

const (
	listSignatures   = "getSignaturesForAddress"
	signaturesAtOnce = 1000 // the most that a node lists
)

// cursor bounds a list of signatures, which begins with the newest.
type cursor struct {
	before, until chain.TxHash // both exclusive; absent: no bound
	slot          uint64       // that the node must have reached
}

// signaturesCall asks for the transactions that name an account, newest first.
func signaturesCall(out *[]signature, a chain.Address, bounds cursor) *jsonrpc.Call {
	settings := options{"commitment": confirmed, "limit": signaturesAtOnce}
	if !bounds.before.IsAbsent() {
		settings["before"] = bounds.before
	}
	if !bounds.until.IsAbsent() {
		settings["until"] = bounds.until
	}
	if bounds.slot > 0 {
		settings["minContextSlot"] = bounds.slot
	}
	c := jsonrpc.NewCall(out, func(list []signature) error {
		for i, each := range list {
			switch {
			case len(each.Signature.Bytes()) != 64:
				return errors.New("no signature")
			case i > 0 && each.Slot > list[i-1].Slot:
				return errors.New("signatures out of order")
			case each.Signature == bounds.before:
				return errors.New("signatures from the previous page")
			}
		}
		return nil
	}, listSignatures, a.Format(chain.SVM), settings)
	c.Passing = isBehind
	return c
}

// historyCall asks for the transactions that name an account of one order. Other voices are asked, too, and the
// transactions that only they have are added.
func historyCall(out *[]signature, a chain.Address, bounds cursor) *jsonrpc.Call {
	c := signaturesCall(out, a, bounds)
	c.Twice = true
	both := func(a, b any) []signature { return distinct(slices.Concat(*a.(*[]signature), *b.(*[]signature))) }
	c.Same = func(a, b any) bool { return 2*len(both(a, b)) == len(both(a, a))+len(both(b, b)) }
	c.Add = func(a, b any) any { return new(both(a, b)) }
	return c
}

// namingCall asks for the transactions that name an account. A node that does not list the known one is passed over.
func namingCall(out *[]signature, a chain.Address, known chain.TxHash) *jsonrpc.Call {
	c := historyCall(out, a, cursor{})
	accept := c.Accept
	c.Accept = func(result any) error {
		list := *result.(*[]signature)
		isKnown := func(s signature) bool { return s.Signature == known }
		if len(list) < signaturesAtOnce && !slices.ContainsFunc(list, isKnown) {
			return &upstream.Error{Class: upstream.Rejected, Err: errors.New("node does not list a transaction that names the account")}
		}
		return accept(result)
	}
	return c
}

// existingCall asks for a listed transaction, in any slot if its own is zero. A node without it is passed over.
func existingCall(out **transaction, listed signature) *jsonrpc.Call {
	c := transactionCall(out, listed.Signature)
	accept := c.Accept
	c.Accept = func(result any) error {
		t := *result.(**transaction)
		if t == nil || listed.Slot > 0 && t.Slot != listed.Slot {
			return &upstream.Error{Class: upstream.Rejected, Err: errors.New("node lacks a listed transaction")}
		}
		return accept(result)
	}
	return c
}
