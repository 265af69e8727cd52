package sandbox

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/tron"
)

// Chain is one chain of the world that runs the protocol's Solidity contracts: EVM, or TRON.
type Chain struct {
	Place
	Pools []Pool
	// EVMRPC is the URL of the go-ethereum node that the chain runs on. It equals RPC unless the chain has a JSON-RPC
	// dialect of its own.
	EVMRPC string

	spec   spec
	node   *node
	wallet *tron.Wallet // TRON only, else nil

	// sending is held from reading an account's nonce to sealing its transaction.
	sending sync.Mutex
}

// spec holds the parameters of a chain that the sandbox chooses.
type spec struct {
	id      chain.ID
	coinUSD float64
	baseFee int64 // smallest units of the coin, at genesis
	// poolRouter is the address of Uniswap V2's router (SushiSwap's on Sonic) on the real chain:
	// Uniswap/contracts deployments, sushi 7.3.15.
	poolRouter string
	// tags are closer to the head than on the real chain, because the history is short.
	tags finality
}

var specs = []spec{
	{1, 3000, 1_000_000_000, "0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D", finality{2, 6}},
	{137, 0.5, 30_000_000_000, "0xedf6066a2b290C185783862C7F4776A2C8077AD1", finality{2, 6}},
	{8453, 3000, 10_000_000, "0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24", finality{2, 6}},
	{100000014, 0.5, 50_000_000_000, "0x9B3336186a38E1b6c21955d112dbb0343Ee061eE", finality{2, 6}},
	{chain.Tron, 0.3, tron.EnergyPrice, "", finality{2, 6}},
}

// externalCallAdapter has the same address on every chain that documents it; Sonic's is undocumented.
var externalCallAdapter = common.HexToAddress("0x61eF2e01E603aEB5Cd96F9eC9AE76cc6A68f6cF9")

var (
	multiCaller = madeAddress("multi caller")
	callTarget  = madeAddress("call target")
)

func newChain(s spec, c cast) (*Chain, error) {
	facts, known := chain.Documented().Chain(s.id)
	if !known {
		return nil, fmt.Errorf("chain %s is not documented", s.id)
	}
	made := &Chain{Place: Place{Facts: facts, Tokens: newTokens(facts, s.coinUSD), coinUSD: s.coinUSD}, spec: s}
	made.Pools = newPools(made.Tokens)
	node, err := newNode(made.genesis(c), s.tags)
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", s.id, err)
	}
	made.node = node
	if facts.Family == chain.TVM {
		made.wallet = &tron.Wallet{Keys: map[common.Address]*ecdsa.PrivateKey{}, ABIs: map[common.Address]abi.ABI{}}
		for _, each := range c.all() {
			made.wallet.Keys[each.Address] = each.key
		}
		for _, each := range made.Tokens {
			made.wallet.ABIs[each.Address] = contracts.Token.ABI
		}
	}
	return made, nil
}

// hasPublicRouter reports whether the protocol's router is deployed on the chain, which is everywhere but TRON.
func (c *Chain) hasPublicRouter() bool { return c.Facts.Family == chain.EVM }

// Addresses of the protocol on this chain.
func (c *Chain) dlnSource() common.Address { return evmAddress(c.Facts.Contracts.DlnSource) }

func (c *Chain) dlnDestination() common.Address { return evmAddress(c.Facts.Contracts.DlnDestination) }
func (c *Chain) gate() common.Address           { return evmAddress(c.Facts.Contracts.Gate) }
func (c *Chain) router() common.Address         { return evmAddress(c.Facts.Contracts.Router) }
func (c *Chain) multicall() common.Address      { return evmAddress(c.Facts.Contracts.Multicall) }
func (*Chain) callAdapter() common.Address      { return externalCallAdapter }

func evmAddress(a chain.Address) common.Address { return common.BytesToAddress(a.Bytes()) }

// call is one transaction to send.
type call struct {
	from  Account
	to    common.Address
	value *big.Int // smallest units of the coin; nil for none
	data  []byte
}

// gasLimit applies to every call: plenty, and the same at every start, which keeps hashes stable.
const gasLimit = 3_000_000

// execute seals one block at the given time with the calls as its transactions. If a call reverts, it returns an error
// with the reason; the transaction is on the chain nevertheless.
func (c *Chain) execute(ctx context.Context, at time.Time, calls ...call) (types.Receipts, error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(c.Facts.Native))
	next := map[common.Address]uint64{}
	var txs []*types.Transaction
	for _, call := range calls {
		nonce, known := next[call.from.Address]
		if !known {
			var err error
			if nonce, err = c.node.client.NonceAt(ctx, call.from.Address, nil); err != nil {
				return nil, fmt.Errorf("nonce of %s: %w", call.from.Name, err)
			}
		}
		next[call.from.Address] = nonce + 1
		tx, err := types.SignNewTx(call.from.key, signer, &types.DynamicFeeTx{
			ChainID: signer.ChainID(), Nonce: nonce, Gas: gasLimit,
			GasTipCap: big.NewInt(c.spec.baseFee / 10), GasFeeCap: big.NewInt(2 * c.spec.baseFee),
			To: &call.to, Value: call.value, Data: call.data,
		})
		if err != nil {
			return nil, fmt.Errorf("sign for %s: %w", call.from.Name, err)
		}
		txs = append(txs, tx)
	}
	receipts, err := c.node.seal(ctx, at, txs...)
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", c.Facts.ID, err)
	}
	for i, receipt := range receipts {
		if receipt.Status != types.ReceiptStatusSuccessful {
			reason := c.reason(ctx, calls[i], receipt)
			return receipts, fmt.Errorf("chain %s: transaction %s reverted: %w", c.Facts.ID, receipt.TxHash, reason)
		}
	}
	return receipts, nil
}

// reason replays a reverted call on the state before its block to learn why it reverted.
func (c *Chain) reason(ctx context.Context, failed call, receipt *types.Receipt) error {
	parent := new(big.Int).Sub(receipt.BlockNumber, common.Big1)
	message := ethereum.CallMsg{
		From: failed.from.Address, To: &failed.to, Value: failed.value, Data: failed.data, Gas: gasLimit,
	}
	_, err := c.node.client.CallContract(ctx, message, parent)
	if err == nil {
		return fmt.Errorf("no reason given")
	}
	return contracts.Explain(err)
}

// read calls a view method at the head and returns its results.
func (c *Chain) read(
	ctx context.Context, contract *contracts.Contract, at common.Address, method string, args ...any,
) ([]any, error) {
	data, err := c.node.client.CallContract(ctx, ethereum.CallMsg{To: &at, Data: contract.Pack(method, args...)}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s.%s on chain %s: %w", contract.Name, method, c.Facts.ID, err)
	}
	values, err := contract.ABI.Unpack(method, data)
	if err != nil {
		return nil, fmt.Errorf("answer of %s.%s on chain %s: %w", contract.Name, method, c.Facts.ID, err)
	}
	return values, nil
}
