package sandbox

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/solana"
)

// ErrUnknownOrder means that no chain of the world announced the order.
var ErrUnknownOrder = errors.New("no such order in the sandbox")

// Order is an order as its creation event announced it.
type Order struct {
	ID         common.Hash
	CreationTx chain.TxHash
	Title      string // what it is an example of; empty for orders created after the history
	terms      solana.Terms
	metadata   []byte // as the maker's software wrote it; empty before events carried metadata
}

// GiveChain is where the order was created.
func (o Order) GiveChain() chain.ID { return chain.ID(o.terms.GiveChain.Uint64()) }

// TakeChain is where it is to be fulfilled, possibly outside the world.
func (o Order) TakeChain() chain.ID { return chain.ID(o.terms.TakeChain.Uint64()) }

// Orders reads every order from the chains' logs, in order of chain and creation.
func (w *World) Orders(ctx context.Context) ([]Order, error) {
	var orders []Order
	for _, c := range w.chains {
		logs, err := c.logs(ctx, c.dlnSource(), createdTopics()...)
		if err != nil {
			return nil, err
		}
		created, err := createdIn(logs)
		if err != nil {
			return nil, fmt.Errorf("orders of chain %s: %w", c.Facts.ID, err)
		}
		orders = append(orders, created...)
	}
	for _, created := range w.solana.ledger.Orders() {
		orders = append(orders, orderOf(created))
	}
	for i := range orders {
		orders[i].Title = w.titles[orders[i].ID]
	}
	return orders, nil
}

// Order finds an order by its id.
func (w *World) Order(ctx context.Context, id common.Hash) (Order, error) {
	orders, err := w.Orders(ctx)
	if err != nil {
		return Order{}, err
	}
	if i := slices.IndexFunc(orders, func(o Order) bool { return o.ID == id }); i >= 0 {
		return orders[i], nil
	}
	return Order{}, fmt.Errorf("%s: %w", id, ErrUnknownOrder)
}

// The states of an order by the enum values of its contracts. Solana's programs use names instead.
var (
	giveStates = []order.State{
		order.None, order.StateCreated, order.StateClaimedUnlock, order.StateClaimedOrderCancel,
	}
	// The last state exists on Solana only, where sending a cancel is a separate step.
	takeStates = []order.State{
		order.None, order.StateFulfilled, order.StateSentUnlock, order.StateSentOrderCancel, order.StateOrderCancelled,
	}
	solanaStatuses = map[solana.Status]uint8{
		solana.Created: 1, solana.ClaimedUnlock: 2, solana.ClaimedCancel: 3,
		solana.Fulfilled: 1, solana.SentUnlock: 2, solana.SentCancel: 3, solana.Cancelled: 4,
	}
)

// State reads the order's current state from the contracts of both chains.
func (w *World) State(ctx context.Context, o Order) (order.State, error) {
	give, take, err := w.statuses(ctx, o)
	if err != nil {
		return order.None, err
	}
	if giveStates[give] == order.StateCreated && take != 0 || give == 0 {
		return takeStates[take], nil
	}
	return giveStates[give], nil
}

// statuses returns the status in both contracts, zero for a contract outside the world.
func (w *World) statuses(ctx context.Context, o Order) (give, take uint8, err error) {
	if o.GiveChain() == chain.Solana {
		give = solanaStatuses[w.solana.ledger.Given(o.ID)]
	}
	if c, here := w.Chain(o.GiveChain()); here {
		values, err := c.read(ctx, contracts.DlnSource, c.dlnSource(), "giveOrders", o.ID)
		if err != nil {
			return 0, 0, err
		}
		give = values[0].(uint8)
	}
	take, _, err = w.taken(ctx, o)
	return give, take, err
}

// taken returns the order's status on its take side, and the account that fulfilled it and may send its unlock. Both
// are zero before the fulfilment and for chains outside the world.
func (w *World) taken(ctx context.Context, o Order) (status uint8, by []byte, err error) {
	if o.TakeChain() == chain.Solana {
		status, holder := w.solana.ledger.Taken(o.ID)
		return solanaStatuses[status], holder[:], nil
	}
	c, here := w.Chain(o.TakeChain())
	if !here {
		return 0, nil, nil
	}
	values, err := c.read(ctx, contracts.DlnDestination, c.dlnDestination(), "takeOrders", o.ID)
	if err != nil {
		return 0, nil, err
	}
	return values[0].(uint8), values[1].(common.Address).Bytes(), nil
}

func createdTopics() []common.Hash {
	return []common.Hash{contracts.DlnSource.Topic("CreatedOrder"), contracts.DlnSource.Topic("CreatedOrder0")}
}

// createdIn decodes the orders that logs announce.
func createdIn(logs []types.Log) ([]Order, error) {
	var orders []Order
	for _, log := range logs {
		name := "CreatedOrder"
		if log.Topics[0] == contracts.DlnSource.Topic("CreatedOrder0") {
			name = "CreatedOrder0"
		}
		values, err := unpack(contracts.DlnSource, name, log)
		if err != nil {
			return nil, err
		}
		o := Order{ID: values[1].([32]byte), CreationTx: chain.NewTxHash(log.TxHash.Bytes())}
		o.terms = *abi.ConvertType(values[0], new(solana.Terms)).(*solana.Terms)
		if len(values) > 6 { // after order, id, affiliate fee, both fees and referral code
			o.metadata = values[6].([]byte)
		}
		orders = append(orders, o)
	}
	return orders, nil
}

// logs returns the logs of one contract with one of the topics, oldest first.
func (c *Chain) logs(ctx context.Context, at common.Address, topics ...common.Hash) ([]types.Log, error) {
	logs, err := c.node.client.FilterLogs(ctx, ethereum.FilterQuery{
		FromBlock: new(big.Int), Addresses: []common.Address{at}, Topics: [][]common.Hash{topics},
	})
	if err != nil {
		return nil, fmt.Errorf("logs of chain %s: %w", c.Facts.ID, err)
	}
	return logs, nil
}
