package stories_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/mr-tron/base58"

	"crossgate/internal/must"
	"crossgate/sandbox"
)

// walletCall is what a wallet in the browser passes on: a method of EIP-1193 on a chain, by its EIP-155 id, or with chain
// 0 a transaction of Solana to be signed and sent.
type walletCall struct {
	Chain  uint64
	Method string
	Params []json.RawMessage
}

// startWallet serves the signing half of the wallets that the walk puts into its pages, for the second account of the
// world and its first taker, and returns its URL.
func startWallet(t *testing.T, world *sandbox.World) string {
	t.Helper()
	facts := factsOf(t, world)
	trader, taker := newSolanaTrader(t, world, ""), newSolanaTrader(t, world, "")
	taker.key = must.Get(base58.Decode(world.Takers()[0].Wallet.Secret()))(t)
	wallets, takers := map[uint64]*wallet{}, map[uint64]*wallet{}
	for _, c := range facts.Chains {
		if c.EVMRPC != "" {
			wallets[c.EVMChainID] = newWallet(t, c.EVMRPC, facts.Accounts[1].PrivateKey)
			takers[c.EVMChainID] = newWallet(t, c.EVMRPC, facts.Takers[0].PrivateKey)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call walletCall
		err := json.NewDecoder(r.Body).Decode(&call)
		var result any
		switch signer := wallets[call.Chain]; {
		case err != nil:
		case call.Chain == 0:
			signer := trader
			if bytes.Contains(call.Params[0], fmt.Appendf(nil, "%x", taker.key.Public())) { // its key is among the accounts
				signer = taker
			}
			result, err = signer.sendSigned(call.Params[0])
		case signer == nil:
			err = fmt.Errorf("no chain %d", call.Chain)
		case call.Method == "eth_sendTransaction":
			if bytes.Contains(bytes.ToLower(call.Params[0]), []byte(strings.ToLower(`"from":"`+facts.Takers[0].Address+`"`))) {
				signer = takers[call.Chain]
			}
			result, err = signer.sendSigned(r, call.Params[0])
		default:
			result, err = signer.pass(r, call)
		}
		answer := map[string]any{"result": result}
		if err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func (w *wallet) pass(r *http.Request, call walletCall) (result json.RawMessage, err error) {
	params := make([]any, len(call.Params))
	for i, each := range call.Params {
		params[i] = each
	}
	err = w.client.Client().CallContext(r.Context(), &result, call.Method, params...)
	return result, err
}

// sendSigned signs and sends a transaction as eth_sendTransaction has it.
func (w *wallet) sendSigned(r *http.Request, request json.RawMessage) (hash string, err error) {
	var asked struct {
		To                   common.Address
		Data                 hexutil.Bytes
		Value, Gas, GasPrice *hexutil.Big // nil: left out
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return "", err
	}
	nonce, err := w.client.PendingNonceAt(r.Context(), w.address)
	price, errOfPrice := w.client.SuggestGasPrice(r.Context())
	if err := errors.Join(err, errOfPrice); err != nil {
		return "", err
	}
	tx := &types.LegacyTx{Nonce: nonce, To: &asked.To, Data: asked.Data, Value: (*big.Int)(asked.Value), Gas: 1_000_000, GasPrice: price.Mul(price, big.NewInt(2))}
	if asked.Gas != nil {
		tx.Gas, tx.GasPrice = asked.Gas.ToInt().Uint64(), asked.GasPrice.ToInt()
	}
	signed, err := types.SignNewTx(w.key, types.LatestSignerForChainID(w.chainID), tx)
	if err != nil {
		return "", err
	}
	return signed.Hash().Hex(), w.client.SendTransaction(r.Context(), signed)
}

// sendSigned signs and sends a transaction in hex, and returns its signature likewise.
func (w *solanaTrader) sendSigned(transaction json.RawMessage) (signature hexutil.Bytes, err error) {
	var raw hexutil.Bytes
	if err := json.Unmarshal(transaction, &raw); err != nil || len(raw) < 65 {
		return nil, errors.Join(err, errors.New("not a transaction"))
	}
	signature = ed25519.Sign(w.key, raw[65:])
	copy(raw[1:65], signature)
	var text string
	return signature, w.client.Call(&text, "sendTransaction", base64.StdEncoding.EncodeToString(raw), map[string]string{"encoding": "base64"})
}
