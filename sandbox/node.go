package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native" // callTracer and prestateTracer
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/miner"
	gethnode "github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"
)

// Limits of the node's RPC, as in geth.
const (
	batchItems    = 1000
	batchBytes    = 25 << 20
	blockGasLimit = 60_000_000
)

// node is one in-memory go-ethereum node without peers. Blocks are sealed only here, so that the sandbox chooses their
// time and content.
type node struct {
	stack    *gethnode.Node
	eth      *eth.Ethereum
	server   *rpc.Server
	client   *ethclient.Client
	finality finality

	// sealing is held from choosing a parent to making its child the head.
	sealing sync.Mutex
	// forks counts the reorgs. Blocks carry it as extra data, so that a rebuilt block never equals the dropped one.
	forks uint64
}

// finality is how far behind the head the safe and finalized blocks are.
type finality struct{ safe, finalized uint64 }

// newNode starts a node on its genesis. The caller must close it.
func newNode(genesis *core.Genesis, f finality) (*node, error) {
	stack, err := gethnode.New(&gethnode.Config{
		Name: "sandbox",
		P2P:  p2p.Config{NoDiscovery: true, NoDial: true},
	})
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	service, err := eth.New(stack, ethereumConfig(genesis))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ethereum service: %w", err), stack.Close())
	}
	if err := stack.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start node: %w", err), stack.Close())
	}
	service.SetSynced()
	server, err := newRPCServer(service)
	if err != nil {
		return nil, errors.Join(err, stack.Close())
	}
	n := &node{
		stack: stack, eth: service, server: server, finality: f,
		client: ethclient.NewClient(rpc.DialInProc(server)),
	}
	n.settle(service.BlockChain().CurrentBlock())
	return n, nil
}

// ethereumConfig keeps all state (an archive node, so that eth_call works at any height) with small caches. The newest
// states, which most calls are about, are kept as snapshots too, because a trie needs several lookups per word.
func ethereumConfig(genesis *core.Genesis) *ethconfig.Config {
	config := ethconfig.Defaults
	config.Genesis = genesis
	config.SyncMode = ethconfig.FullSync
	config.NoPruning = true
	config.NoPrefetch = true // everything is in memory
	config.StateScheme = rawdb.HashScheme
	config.TrieCleanCache, config.TrieDirtyCache, config.SnapshotCache = 16, 0, 4
	config.Miner.GasPrice = common.Big1 // TRON's prices are far below the least that miners take by default
	config.TxPool.NoLocals = true
	config.TxPool.Journal = ""
	config.LogNoHistory = true // short chains are searched without an index
	config.TransactionHistory = 0
	return &config
}

// newRPCServer offers the namespaces of public endpoints, and tracing.
func newRPCServer(service *eth.Ethereum) (*rpc.Server, error) {
	server := rpc.NewServer()
	server.SetBatchLimits(batchItems, batchBytes)
	logs := filters.NewFilterAPI(filters.NewFilterSystem(service.APIBackend, filters.Config{}))
	services := append(service.APIs(),
		rpc.API{Namespace: "eth", Service: logs}, rpc.API{Namespace: "web3", Service: clientVersion{}})
	services = slices.DeleteFunc(services, func(api rpc.API) bool {
		return !slices.Contains([]string{"eth", "net", "web3", "txpool"}, api.Namespace)
	})
	for _, api := range append(services, tracers.APIs(service.APIBackend)...) {
		if err := server.RegisterName(api.Namespace, api.Service); err != nil {
			return nil, fmt.Errorf("rpc namespace %s: %w", api.Namespace, err)
		}
	}
	return server, nil
}

type clientVersion struct{}

// ClientVersion is web3_clientVersion.
func (clientVersion) ClientVersion() string {
	return fmt.Sprintf("crossgate-sandbox/go-ethereum/%s/%s", runtime.GOOS, runtime.Version())
}

// protocol returns the rules of today's mainnet. The forks that go-ethereum's development chains enable early stay off:
// Bogota alone triples gas.
func protocol(evmChainID uint64) *params.ChainConfig {
	config := *params.AllDevChainProtocolChanges
	config.ChainID = new(big.Int).SetUint64(evmChainID)
	config.BogotaTime, config.AmsterdamTime = nil, nil
	return &config
}

// ServeHTTP answers JSON-RPC requests.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) { n.server.ServeHTTP(w, r) }

// Close stops the node and everything it runs.
func (n *node) Close() error {
	n.client.Close()
	n.server.Stop()
	return n.stack.Close()
}

// seal makes a block of exactly these transactions and returns their receipts. The block's time is at, or one second
// after its parent if that is later.
func (n *node) seal(ctx context.Context, at time.Time, txs ...*types.Transaction) (types.Receipts, error) {
	n.sealing.Lock()
	defer n.sealing.Unlock()
	return n.sealLocked(ctx, at, txs)
}

// sealPending makes a block of the pending transactions of the pool, or none if there are none.
func (n *node) sealPending(ctx context.Context, at time.Time) error {
	n.sealing.Lock()
	defer n.sealing.Unlock()
	if err := n.eth.TxPool().Sync(); err != nil {
		return fmt.Errorf("transaction pool: %w", err)
	}
	if pending, _ := n.eth.TxPool().Stats(); pending == 0 {
		return nil
	}
	block, err := n.build(at, nil, false)
	if err != nil || len(block.Transactions()) == 0 {
		return err
	}
	return n.adopt(ctx, block)
}

func (n *node) sealLocked(ctx context.Context, at time.Time, txs []*types.Transaction) (types.Receipts, error) {
	block, err := n.build(at, txs, len(txs) == 0)
	if err != nil {
		return nil, err
	}
	if err := n.adopt(ctx, block); err != nil {
		return nil, err
	}
	return n.eth.BlockChain().GetReceiptsByHash(block.Hash()), nil
}

func (n *node) build(at time.Time, txs []*types.Transaction, empty bool) (*types.Block, error) {
	parent := n.eth.BlockChain().CurrentBlock()
	block, _, err := n.eth.Miner().BuildTestingPayload(&miner.BuildPayloadArgs{
		Parent:     parent.Hash(),
		Timestamp:  max(uint64(at.Unix()), parent.Time+1),
		BeaconRoot: new(common.Hash),
	}, txs, empty, new(big.Int).SetUint64(n.forks).Bytes())
	if err != nil {
		return nil, fmt.Errorf("build block %d: %w", parent.Number.Uint64()+1, err)
	}
	return block, nil
}

func (n *node) adopt(ctx context.Context, block *types.Block) error {
	blocks := n.eth.BlockChain()
	if _, err := blocks.InsertBlockWithoutSetHead(ctx, block, false); err != nil {
		return fmt.Errorf("insert block %d: %w", block.NumberU64(), err)
	}
	if _, err := blocks.SetCanonical(block); err != nil {
		return fmt.Errorf("make block %d the head: %w", block.NumberU64(), err)
	}
	n.settle(block.Header())
	return nil
}

// head returns the newest block's number.
func (n *node) head() uint64 { return n.eth.BlockChain().CurrentBlock().Number.Uint64() }

// settle moves the safe and finalized tags along with the head. The database does not learn of the finalized block:
// once a minute go-ethereum moves final blocks to where no reorg reaches, but reorgs here go deeper. A replaced block
// might be half moved, and its logs would have no receipts.
func (n *node) settle(head *types.Header) {
	blocks := n.eth.BlockChain()
	number := head.Number.Uint64()
	blocks.SetSafe(blocks.GetHeaderByNumber(number - min(number, n.finality.safe)))
	blocks.SetFinalized(blocks.GetHeaderByNumber(number - min(number, n.finality.finalized)))
	rawdb.WriteFinalizedBlockHash(n.eth.ChainDb(), common.Hash{})
}

// reorg replaces the newest depth blocks by one more than that, the first of them empty. The others repeat the dropped
// transactions, each one block higher, or are empty too.
func (n *node) reorg(ctx context.Context, at time.Time, depth uint64, again bool) error {
	n.sealing.Lock()
	defer n.sealing.Unlock()
	blocks := n.eth.BlockChain()
	head := n.head()
	if depth == 0 || depth > head {
		return fmt.Errorf("depth %d: want 1 to %d blocks, the chain's height", depth, head)
	}
	contents := make([]types.Transactions, depth+1)
	for i := range depth {
		if again {
			contents[i+1] = blocks.GetBlockByNumber(head - depth + 1 + i).Transactions()
		}
	}
	if _, err := blocks.SetCanonical(blocks.GetBlockByNumber(head - depth)); err != nil {
		return fmt.Errorf("drop %d blocks: %w", depth, err)
	}
	n.forks++
	for _, txs := range contents {
		if _, err := n.sealLocked(ctx, at, txs); err != nil {
			return err
		}
	}
	// The pool has readmitted the dropped transactions.
	if err := n.eth.TxPool().Sync(); err != nil {
		return fmt.Errorf("transaction pool: %w", err)
	}
	n.eth.TxPool().Clear()
	return nil
}

// run seals transactions as they arrive, and an empty block every period unless that is zero. It returns when ctx ends.
func (n *node) run(ctx context.Context, now func() time.Time, period time.Duration, log *slog.Logger) {
	arrivals := make(chan core.NewTxsEvent, 64)
	subscription := n.eth.TxPool().SubscribeTransactions(arrivals, false)
	defer subscription.Unsubscribe()
	var tick <-chan time.Time
	if period > 0 {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-arrivals:
			err = n.sealPending(ctx, now())
		case <-tick:
			_, err = n.seal(ctx, now())
		}
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "sandbox block not sealed", "error", err)
		}
	}
}
