package evm

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/upstream"
	"crossgate/upstream/evm/seal"
	"crossgate/upstream/jsonrpc"
)

// Quantity is an integer as Ethereum's JSON-RPC encodes it (execution-apis, base types): 0x and hex digits. Leading
// zeros, which some nodes send, are accepted.
type Quantity uint64

func (q *Quantity) UnmarshalText(text []byte) error {
	digits, prefixed := strings.CutPrefix(string(text), "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if !prefixed || err != nil {
		return fmt.Errorf("%.24q is not a Quantity of 64 bits", text)
	}
	*q = Quantity(n)
	return nil
}

func (q Quantity) MarshalText() ([]byte, error) {
	return strconv.AppendUint([]byte("0x"), uint64(q), 16), nil
}

// Amount is a Quantity of up to 256 bits.
type Amount struct{ chain.Amount }

func (a *Amount) UnmarshalText(text []byte) (err error) {
	if !bytes.HasPrefix(text, []byte("0x")) {
		return fmt.Errorf("%.80q is not a Quantity of 256 bits", text)
	}
	a.Amount, err = chain.ParseQuantity(string(text))
	return err
}

func (a Amount) MarshalText() ([]byte, error) { return []byte(a.Hex()), nil }

// Payload is bytes of any length.
type Payload []byte

func (p *Payload) UnmarshalText(text []byte) error {
	digits, prefixed := bytes.CutPrefix(text, []byte("0x"))
	if !prefixed {
		return errors.New("bytes without 0x")
	}
	raw := make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(raw, digits); err != nil {
		return fmt.Errorf("bytes: %w", err)
	}
	*p = raw
	return nil
}

func (p Payload) MarshalText() ([]byte, error) { return hex.AppendEncode([]byte("0x"), p), nil }

// stamp is the time that newer nodes add to a log, UNIX seconds; zero if it is missing or has another form.
type stamp uint64

func (s *stamp) UnmarshalJSON(text []byte) error {
	var q Quantity
	if q.UnmarshalText(bytes.Trim(text, `"`)) == nil {
		*s = stamp(q)
	}
	return nil
}

// header holds the members of a block that are used.
type header struct {
	Number     Quantity         `json:"number"`
	Hash       chain.Hash       `json:"hash"`
	ParentHash chain.Hash       `json:"parentHash"`
	Timestamp  Quantity         `json:"timestamp"`
	Bloom      seal.HeaderBloom `json:"logsBloom"`
	Receipts   chain.Hash       `json:"receiptsRoot"` // absent if nodes omit it

	isProven bool   // its members give its hash
	by       string // endpoint that gave it; absent: not known
}

func (h *header) UnmarshalJSON(text []byte) error {
	type plain header
	if err := json.Unmarshal(text, (*plain)(h)); err != nil {
		return err
	}
	hash, err := seal.HeaderHash(text)
	h.isProven = err == nil && hash == h.Hash
	return nil
}

// isLike reports whether two headers agree in all members that are used.
func (h *header) isLike(other *header) bool {
	own, others := *h, *other
	own.isProven, others.isProven = false, false
	return own == others
}

// saidBy is the header with the endpoint that gave it.
func (h header) saidBy(endpoint string) *header {
	h.by = endpoint
	return &h
}

// check refuses an incomplete block, and a time that is not in seconds. The first one may lack parent and time.
func (h *header) check() error {
	if isFirst := h.Number == 0; h.Hash.IsAbsent() || !isFirst && (h.ParentHash.IsAbsent() || h.Timestamp == 0) || h.Timestamp>>32 > 0 {
		return errors.New("block without hash, parent or time")
	}
	return nil
}

// receipt holds the members of a receipt that are used.
type receipt struct {
	TransactionHash chain.Hash    `json:"transactionHash"`
	BlockHash       chain.Hash    `json:"blockHash"`
	BlockNumber     Quantity      `json:"blockNumber"`
	From            chain.Address `json:"from"`
	Status          *Quantity     `json:"status"` // nil before Byzantium
	Logs            []log         `json:"logs"`
	Bloom           seal.Bloom    `json:"logsBloom"`
}

type log struct {
	Address         chain.Address `json:"address"`
	Topics          []chain.Hash  `json:"topics"`
	Data            Payload       `json:"data"`
	BlockNumber     Quantity      `json:"blockNumber"`
	BlockHash       chain.Hash    `json:"blockHash"`
	BlockTimestamp  stamp         `json:"blockTimestamp"`
	TransactionHash chain.Hash    `json:"transactionHash"`
	Index           Quantity      `json:"logIndex"`
	Removed         bool          `json:"removed"`

	by string // endpoint that listed it, if known
}

const (
	getBlockByNumber = "eth_getBlockByNumber"
	getTransaction   = "eth_getTransactionByHash"
	newestTag        = "latest"
	finalTag         = "finalized"
)

// headRetry is after how long a node that returned no newest block may be asked again: it may have started by then, or
// its balancer may reach another one.
const headRetry = time.Second

// headerCall returns a call for a block by its number or tag; out stays nil if no block has that number.
func headerCall(out **header, block any) *jsonrpc.Call {
	asked := jsonrpc.NewCall(out, func(h *header) error {
		number, numbered := block.(Quantity)
		switch {
		case h == nil && block == newestTag:
			return &upstream.Error{Class: upstream.Rejected, RetryAfter: headRetry, Err: errors.New("no latest block")}
		case h == nil && !numbered:
			return &upstream.Error{Class: upstream.Rejected, Err: jsonrpc.ErrTagMissing}
		case h == nil:
			return nil
		case numbered && h.Number != number:
			return fmt.Errorf("block %d instead of %d", h.Number, number)
		}
		return h.check()
	}, getBlockByNumber, block, false)
	if tag, is := block.(string); is && tag != newestTag {
		asked.Reach.Tag = tag
	}
	if block == newestTag {
		asked.Head = func(result any) uint64 { return uint64((*result.(**header)).Number) }
	}
	return asked
}

// HeadCall returns a call for just the number of the newest block.
func HeadCall() *jsonrpc.Call {
	asked := jsonrpc.NewCall(new(Quantity), nil, "eth_blockNumber")
	asked.Head = func(result any) uint64 { return uint64(*result.(*Quantity)) }
	return asked
}

// LinkCall returns a call for a block by its number, to see which one it follows.
func LinkCall(number uint64) *jsonrpc.Call {
	asked := existingHeaderCall(new(*header), Quantity(number))
	asked.Link = func(result any) (hash, parent string) {
		h := *result.(**header)
		return h.Hash.String(), h.ParentHash.String()
	}
	return asked
}

var errNoBlock = errors.New("node does not have block")

// existingHeaderCall returns a call for a block by its number or hash that skips nodes without it.
func existingHeaderCall(out **header, block any) *jsonrpc.Call {
	method := getBlockByNumber
	if _, is := block.(chain.Hash); is {
		method = "eth_getBlockByHash"
	}
	return jsonrpc.NewCall(out, func(h *header) error {
		if h == nil || h.Number != block && h.Hash != block {
			return &upstream.Error{Class: upstream.Rejected, Err: fmt.Errorf("%w %v", errNoBlock, block)}
		}
		return h.check()
	}, method, block, false)
}

// checkLogs drops repeated logs, and rejects a receipt that lacks logs or has those of another transaction.
func (r *receipt) checkLogs() error {
	r.Logs = distinct(r.Logs)
	var sum seal.Bloom
	for i, l := range r.Logs {
		switch {
		case l.TransactionHash != r.TransactionHash || l.BlockHash != r.BlockHash || l.BlockNumber != r.BlockNumber || l.Removed || l.Index>>32 > 0:
			return errors.New("receipt with a log of another transaction")
		case i > 0 && l.Index != r.Logs[i-1].Index+1:
			return fmt.Errorf("receipt with log %d after log %d", l.Index, r.Logs[i-1].Index)
		}
		sum.Add(l.Address.Bytes())
		for _, topic := range l.Topics {
			sum.Add(topic[:])
		}
	}
	// Nodes like those of zkSync and TRON leave the filter empty.
	if r.Bloom != (seal.Bloom{}) && r.Bloom != sum {
		return errors.New("receipt whose logs do not match its bloom filter")
	}
	return nil
}

// receiptCall returns a call for the receipt of a transaction, to be checked by accept; nil if the node has none.
func receiptCall(out **receipt, tx chain.Hash, accept func(*receipt) error) *jsonrpc.Call {
	return jsonrpc.NewCall(out, func(r *receipt) error {
		switch {
		case r == nil:
			return accept(r)
		case r.TransactionHash != tx || r.From.IsAbsent():
			return errors.New("not the receipt asked for")
		}
		return cmp.Or(r.checkLogs(), accept(r))
	}, "eth_getTransactionReceipt", tx)
}

// minedReceiptCall returns a call for the receipt of a transaction that is in the block with hash and has logs of the
// protocol; nodes without such a receipt are skipped. Events that cannot be decoded are a bad answer.
func (c *Chain) minedReceiptCall(out **receipt, tx, block chain.Hash) *jsonrpc.Call {
	asked := receiptCall(out, tx, func(r *receipt) error {
		if r == nil || r.BlockHash != block || !slices.ContainsFunc(r.Logs, func(l log) bool { return l.isOfProtocol() }) {
			return &upstream.Error{Class: upstream.Rejected, Err: fmt.Errorf("node lacks transaction %s with its logs in block %s", tx, block)}
		}
		_, err := c.facts(r)
		return err
	})
	asked.Says = c.says(block)
	return asked
}

// firstReceiptCall is receiptCall for a transaction that may not exist, or not concern orders: either result is
// doubted. Events that cannot be decoded are a bad answer.
func (c *Chain) firstReceiptCall(out **receipt, tx chain.Hash) *jsonrpc.Call {
	asked := receiptCall(out, tx, func(r *receipt) (err error) {
		if r != nil {
			_, err = c.facts(r)
		}
		return err
	})
	asked.Doubt = func(result any) bool {
		r := *result.(**receipt)
		return r == nil || r.BlockHash.IsAbsent() || len(c.eventsIn(r, 0)) == 0
	}
	return asked
}

// Message is a transaction as accepted by eth_call, eth_estimateGas and eth_simulateV1.
type Message struct {
	From     *chain.Address `json:"from,omitempty"`
	To       chain.Address  `json:"to"`
	Data     Payload        `json:"data"` // the older name, which all know: java-tron knows "input" since version 4.8.2
	Value    *Amount        `json:"value,omitempty"`
	Gas      Quantity       `json:"gas,omitempty"`
	GasPrice *Amount        `json:"gasPrice,omitempty"`
}
