package venue_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/linktest"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/venue"
)

// Addresses of Uniswap's contracts on Ethereum.
var (
	realWETH       = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	realV2Factory  = common.HexToAddress("0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f")
	realV2Router   = common.HexToAddress("0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D")
	realV3Factory  = common.HexToAddress("0x1F98431c8aD98523631AE4a59f267346ea31F984")
	realV3Quoter   = common.HexToAddress("0x61fFE014bA17989E743c5F6cB21bF9697530B21e")
	realSwapRouter = common.HexToAddress("0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45")
)

// TestRealUniswap runs the exchanges on Uniswap's own contracts, placed at their addresses on Ethereum: they deliver
// the quoted amount to the unit. The contracts and the node come from npm: .ci/setup.
func TestRealUniswap(t *testing.T) {
	lab := startLab(t)
	tokenA, tokenB := lab.buildUniswap(t)
	for _, name := range []string{"uniswap-v2", "uniswap-v3"} {
		v := must.Get(venue.New(name, venue.Options{Registry: chain.Documented(), Contracts: func(ctx context.Context, _ chain.ID, calls []chain.ContractCall) ([][]byte, error) {
			return lab.chain.CallAll(ctx, calls)
		}}))(t)
		for i, c := range []struct {
			name    string
			in, out common.Address
		}{
			{"coin to token", common.Address{}, tokenA},
			{"token to coin", tokenA, common.Address{}},
			{"token to wrapped coin", tokenB, realWETH},
			{"over the wrapped coin", tokenA, tokenB},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				ethereum, _ := chain.Documented().Chain(chain.Ethereum)
				payee := common.BigToAddress(big.NewInt(int64(0x10000*len(name) + i)))
				s := quote.Swap{
					Chain: ethereum, In: quote.Side{Address: chain.NewAddress(c.in.Bytes())}, Out: quote.Side{Address: chain.NewAddress(c.out.Bytes())},
					Sender: chain.NewAddress(lab.user.Bytes()), Recipient: chain.NewAddress(payee.Bytes()), SlippagePercent: decimal.NewFromInt(1),
				}
				s.In.Amount, _ = chain.AmountFromBig(units(3, 17))
				q := must.Get(v.Quote(t.Context(), s))(t)
				tx := must.Get(v.Build(t.Context(), s, q))(t)
				before := lab.balance(t, c.out, payee)
				lab.send(t, common.BytesToAddress(tx.To.Bytes()), tx.Data, tx.Value.Big())
				got := new(big.Int).Sub(lab.balance(t, c.out, payee), before)
				if got.Cmp(q.AmountOut.Big()) != 0 {
					t.Errorf("delivered %s, quoted %s", got, q.AmountOut)
				}
			})
		}
	}
}

// lab is a node with Ethereum's chain ID and an empty state.
type lab struct {
	node  *jsonrpc.Client
	chain *evm.Chain
	user  common.Address
	erc20 abi.ABI
}

func startLab(t *testing.T) *lab {
	binary := filepath.Join("testdata", "uniswap", "node_modules", "@foundry-rs", "anvil-linux-amd64", "bin", "anvil")
	if _, err := os.Stat(binary); errors.Is(err, os.ErrNotExist) {
		t.Skipf("anvil and Uniswap's contracts are not there: %s; .ci/setup installs them where there is npm on Linux "+
			"(npm ci --ignore-scripts in upstream/venue/testdata/uniswap)", binary)
	}
	address := must.Get(linktest.FreeAddress())(t)
	_, port, err := net.SplitHostPort(address)
	must.Do(t, err)
	running := exec.CommandContext(t.Context(), binary, "--host", "127.0.0.1", "--port", port, "--chain-id", "1", "--silent")
	must.Do(t, running.Start())
	t.Cleanup(func() {
		_ = running.Process.Kill()
		_ = running.Wait()
	})
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	node := jsonrpc.New(pooltest.At(t, "http://"+address))
	l := &lab{node: node, chain: evm.New(ethereum, node)}
	var accounts []common.Address
	for tick := time.NewTicker(20 * time.Millisecond); len(accounts) == 0; <-tick.C {
		if err := node.Call(t.Context(), "eth_accounts", &accounts); err != nil && t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	l.user = accounts[0]
	return l
}

// artifact is a compiled contract of an npm package.
type artifact struct {
	ABI      abi.ABI `json:"abi"`
	Bytecode string  `json:"bytecode"`
}

func readArtifact(t *testing.T, path string) artifact {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join("testdata", "uniswap", "node_modules", "@uniswap", path)))(t)
	var a artifact
	must.Do(t, json.Unmarshal(raw, &a))
	return a
}

func (l *lab) deploy(t *testing.T, path string, arguments ...any) (common.Address, abi.ABI) {
	t.Helper()
	a := readArtifact(t, path)
	packed := must.Get(a.ABI.Pack("", arguments...))(t)
	code := common.FromHex("0x" + strings.TrimPrefix(a.Bytecode, "0x"))
	return l.transact(t, map[string]any{"from": l.user, "data": hexutil.Bytes(append(code, packed...))}), a.ABI
}

func (l *lab) send(t *testing.T, to common.Address, data []byte, value *big.Int) {
	t.Helper()
	l.transact(t, map[string]any{"from": l.user, "to": to, "data": hexutil.Bytes(data), "value": (*hexutil.Big)(value)})
}

func (l *lab) call(t *testing.T, to common.Address, contract abi.ABI, value *big.Int, method string, arguments ...any) {
	t.Helper()
	l.send(t, to, must.Get(contract.Pack(method, arguments...))(t), value)
}

// transact sends a transaction, which must succeed, and returns the contract that it created. Its gas is fixed: the
// node estimates for the time of the newest block, and in the next one pools write more.
func (l *lab) transact(t *testing.T, tx map[string]any) common.Address {
	t.Helper()
	tx["gas"] = hexutil.Uint64(15_000_000)
	var hash string
	must.Do(t, l.node.Call(t.Context(), "eth_sendTransaction", &hash, tx))
	var receipt *struct {
		Status          hexutil.Uint64  `json:"status"`
		ContractAddress *common.Address `json:"contractAddress"`
	}
	for tick := time.NewTicker(time.Millisecond); receipt == nil; <-tick.C {
		must.Do(t, l.node.Call(t.Context(), "eth_getTransactionReceipt", &receipt, hash))
	}
	if receipt.Status != 1 {
		t.Fatal("a transaction reverted")
	}
	if receipt.ContractAddress == nil {
		return common.Address{}
	}
	return *receipt.ContractAddress
}

// move copies a deployed contract's code to its real address, replacing its own address in the code.
func (l *lab) move(t *testing.T, from, to common.Address) {
	t.Helper()
	var code hexutil.Bytes
	must.Do(t, l.node.Call(t.Context(), "eth_getCode", &code, from, "latest"))
	l.set(t, "anvil_setCode", to, hexutil.Bytes(bytes.ReplaceAll(code, from.Bytes(), to.Bytes())))
}

func (l *lab) set(t *testing.T, method string, arguments ...any) {
	t.Helper()
	var ignored any
	must.Do(t, l.node.Call(t.Context(), method, &ignored, arguments...))
}

func (l *lab) balance(t *testing.T, token, of common.Address) *big.Int {
	t.Helper()
	if token == (common.Address{}) {
		var balance hexutil.Big
		must.Do(t, l.node.Call(t.Context(), "eth_getBalance", &balance, of, "latest"))
		return balance.ToInt()
	}
	data := must.Get(l.erc20.Pack("balanceOf", of))(t)
	answer := must.Get(l.chain.CallAll(t.Context(), []chain.ContractCall{{To: chain.NewAddress(token.Bytes()), Data: data}}))(t)[0]
	return new(big.Int).SetBytes(answer)
}

// buildUniswap deploys both versions, with pools of two tokens and the wrapped coin.
func (l *lab) buildUniswap(t *testing.T) (tokenA, tokenB common.Address) {
	weth, wethABI := l.deploy(t, "v2-periphery/build/WETH9.json")
	l.move(t, weth, realWETH)
	tokenA, l.erc20 = l.deploy(t, "v2-core/build/ERC20.json", units(1_000_000, 18))
	tokenB, _ = l.deploy(t, "v2-core/build/ERC20.json", units(1_000_000, 18))
	l.call(t, realWETH, wethABI, units(2000, 18), "deposit")

	factory, _ := l.deploy(t, "v2-core/build/UniswapV2Factory.json", l.user)
	l.move(t, factory, realV2Factory)
	router, routerABI := l.deploy(t, "v2-periphery/build/UniswapV2Router02.json", realV2Factory, realWETH)
	l.move(t, router, realV2Router)
	feeFactory, feeFactoryABI := l.deploy(t, "v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json")
	l.move(t, feeFactory, realV3Factory)
	l.copyTickSpacings(t, feeFactory, feeFactoryABI)
	quoter, _ := l.deploy(t, "swap-router-contracts/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json", realV3Factory, realWETH)
	l.move(t, quoter, realV3Quoter)
	manager, managerABI := l.deploy(t, "v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json", realV3Factory, realWETH, l.user)
	swapRouter, _ := l.deploy(t, "swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json", realV2Factory, realV3Factory, manager, realWETH)
	l.move(t, swapRouter, realSwapRouter)

	forever, most := big.NewInt(1<<40), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for _, token := range []common.Address{tokenA, tokenB, realWETH} {
		for _, spender := range []common.Address{realV2Router, realSwapRouter, manager} {
			l.call(t, token, l.erc20, nil, "approve", spender, most)
		}
	}
	for i, token := range []common.Address{tokenA, tokenB} {
		l.call(t, realV2Router, routerABI, nil, "addLiquidity", token, realWETH, units(500, 18), units(300, 18), common.Big0, common.Big0, l.user, forever)
		l.mint(t, manager, managerABI, token, []int64{500, 3000}[i], forever)
	}
	return tokenA, tokenB
}

// copyTickSpacings gives the moved factory the fees from its constructor: feeAmountTickSpacing is the mapping in slot
// 4.
func (l *lab) copyTickSpacings(t *testing.T, deployed common.Address, factory abi.ABI) {
	for _, fee := range []int64{500, 3000} {
		slot := crypto.Keccak256Hash(common.BigToHash(big.NewInt(fee)).Bytes(), common.BigToHash(big.NewInt(4)).Bytes())
		var spacing common.Hash
		must.Do(t, l.node.Call(t.Context(), "eth_getStorageAt", &spacing, deployed, slot, "latest"))
		if spacing == (common.Hash{}) {
			t.Fatalf("no tick spacing of the fee %d in slot 4 of %v", fee, factory.Methods["feeAmountTickSpacing"])
		}
		l.set(t, "anvil_setStorageAt", realV3Factory, slot, spacing)
	}
}

// mint creates a V3 pool at a price of one and adds liquidity over its whole range.
func (l *lab) mint(t *testing.T, manager common.Address, contract abi.ABI, token common.Address, fee int64, deadline *big.Int) {
	t.Helper()
	token0, token1 := token, realWETH
	if bytes.Compare(token0[:], token1[:]) > 0 {
		token0, token1 = token1, token0
	}
	edge := map[int64]int64{500: 887270, 3000: 887220}[fee]
	l.call(t, manager, contract, nil, "createAndInitializePoolIfNecessary", token0, token1, big.NewInt(fee), new(big.Int).Lsh(big.NewInt(1), 96))
	l.call(t, manager, contract, nil, "mint", struct {
		Token0, Token1                                            common.Address
		Fee, TickLower, TickUpper, Amount0Desired, Amount1Desired *big.Int
		Amount0Min, Amount1Min                                    *big.Int
		Recipient                                                 common.Address
		Deadline                                                  *big.Int
	}{
		token0, token1, big.NewInt(fee), big.NewInt(-edge), big.NewInt(edge), units(200, 18), units(200, 18),
		common.Big0, common.Big0, l.user, deadline,
	})
}
