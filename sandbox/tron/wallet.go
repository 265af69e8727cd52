package tron

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"

	"crossgate/sandbox/jsonrpc"
)

// Wallet is the state that all nodes of a chain share for sending transactions through TRON's HTTP API. What senders
// sign is not a transaction of the underlying node: Keys sign that one for them.
type Wallet struct {
	Keys map[common.Address]*ecdsa.PrivateKey // of all accounts that may send
	ABIs map[common.Address]abi.ABI           // of the contracts deployed with an ABI

	sending sync.Mutex // held from reading an account's nonce to sending its transaction
	mu      sync.Mutex
	ids     map[common.Hash]common.Hash // of transactions on TRON, by the underlying hashes
	hashes  map[common.Hash]common.Hash // the reverse
}

// named is an underlying node with TRON's IDs instead of its hashes for transactions sent through the HTTP API.
type named struct {
	*rpc.Client
	wallet *Wallet
}

// CallContext calls the underlying node. A hash argument identifies a transaction.
func (n named) CallContext(ctx context.Context, into any, method string, args ...any) error {
	n.wallet.mu.Lock()
	var names []string
	for below, id := range n.wallet.ids {
		names = append(names, below.Hex(), id.Hex())
	}
	for i, each := range args {
		if id, is := each.(hash); is && n.wallet.hashes[id.Hash] != (common.Hash{}) {
			args[i] = n.wallet.hashes[id.Hash]
		}
	}
	n.wallet.mu.Unlock()
	var answered json.RawMessage
	if err := n.Client.CallContext(ctx, &answered, method, args...); err != nil {
		return err
	}
	return json.Unmarshal([]byte(strings.NewReplacer(names...).Replace(string(answered))), into)
}

// calls are the calls of the HTTP API (github.com/tronprotocol/documentation-en, docs/api/http.md) that the client
// library tronweb makes for contract calls, by the last element of their paths. Failures have status 200.
var calls = map[string]func(s *server, ctx context.Context, asked request) (object, error){
	"getaccount":             (*server).account,
	"getblock":               (*server).newest,
	"getchainparameters":     (*server).parameters,
	"getcontract":            (*server).deployed,
	"getnowblock":            (*server).newest,
	"gettransactioninfobyid": (*server).info,
	"triggerconstantcontract": func(s *server, ctx context.Context, asked request) (object, error) {
		return s.trigger(ctx, asked, true)
	},
	"triggersmartcontract": func(s *server, ctx context.Context, asked request) (object, error) {
		return s.trigger(ctx, asked, false)
	},
	"broadcasttransaction": (*server).broadcast,
}

// request has the members of all calls.
type request struct {
	Address, Value string
	Owner          string   `json:"owner_address"`
	Contract       string   `json:"contract_address"`
	Selector       string   `json:"function_selector"` // with Parameter, instead of Data
	Parameter      string   // arguments, encoded
	Data           string   // hex without 0x, like all binary members
	CallValue      uint64   `json:"call_value"` // sun
	FeeLimit       uint64   `json:"fee_limit"`  // sun
	RawDataHex     string   `json:"raw_data_hex"`
	Signature      []string // 65 bytes each
}

func (s *server) serveWallet(w http.ResponseWriter, r *http.Request) {
	call, is := calls[path.Base(r.URL.Path)]
	if !is {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	asked := request{Value: r.URL.Query().Get("value")}
	if len(body) > 0 {
		err = errors.Join(err, json.Unmarshal(body, &asked))
	}
	var answered object
	if err == nil {
		answered, err = call(s, r.Context(), asked)
	}
	if err != nil {
		answered = object{"Error": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answered) // the client has gone
}

// account returns an account's balance, or an empty object for an unused address.
func (s *server) account(ctx context.Context, asked request) (object, error) {
	var owner address
	if err := owner.UnmarshalText([]byte(asked.Address)); err != nil {
		return nil, err
	}
	var balance hexutil.Big
	err := s.node.CallContext(ctx, &balance, "eth_getBalance", owner, "latest")
	if balance.ToInt().Sign() == 0 {
		return object{}, err
	}
	return object{"address": asked.Address, "balance": balance.ToInt()}, err
}

func (s *server) newest(ctx context.Context, _ request) (object, error) {
	found, err := s.blockAt(ctx, "latest", false)
	if err != nil {
		return nil, err
	}
	word := func(name string) string { return strings.TrimPrefix(fmt.Sprint(found[name]), "0x") }
	return object{"blockID": word("hash"), "block_header": object{"raw_data": object{
		"number": found.number("number"), "timestamp": 1000 * found.number("timestamp"),
		"txTrieRoot": word("transactionsRoot"), "parentHash": word("parentHash"),
	}}}, nil
}

func (*server) parameters(context.Context, request) (object, error) {
	return object{"chainParameter": []object{
		{"key": "getTransactionFee", "value": bandwidthPrice}, {"key": "getEnergyFee", "value": EnergyPrice},
	}}, nil
}

// bandwidthPrice is the price of a transaction's byte, in sun: the chain parameter getTransactionFee.
const bandwidthPrice = 1000

// deployed returns a contract with the ABI that it was deployed with.
func (s *server) deployed(ctx context.Context, asked request) (object, error) {
	var at address
	if err := at.UnmarshalText([]byte(asked.Value)); err != nil {
		return nil, err
	}
	var code hexutil.Bytes
	if err := s.node.CallContext(ctx, &code, "eth_getCode", at, "latest"); err != nil || len(code) == 0 {
		return object{}, err
	}
	described := func(arguments abi.Arguments) []object {
		all := make([]object, len(arguments))
		for i, each := range arguments {
			all[i] = object{"name": each.Name, "type": each.Type.String()}
		}
		return all
	}
	entries := []object{}
	for name, method := range s.node.wallet.ABIs[at.Address].Methods {
		mutability := strings.ToUpper(method.StateMutability[:1]) + method.StateMutability[1:]
		entries = append(entries, object{
			"type": "Function", "name": name, "stateMutability": mutability,
			"inputs": described(method.Inputs), "outputs": described(method.Outputs),
		})
	}
	return object{"contract_address": bare(versioned(at.Address)), "bytecode": bare(code), "abi": object{"entrys": entries}}, nil
}

// trigger builds the unsigned transaction of a call. If isConstant, it also runs the call, and returns its result or
// revert and the energy that the transaction needs.
func (s *server) trigger(ctx context.Context, asked request, isConstant bool) (object, error) {
	var owner, contract address
	if err := errors.Join(owner.UnmarshalText([]byte(asked.Owner)), contract.UnmarshalText([]byte(asked.Contract))); err != nil {
		return nil, err
	}
	data := common.FromHex(asked.Data)
	if asked.Selector != "" {
		data = append(crypto.Keccak256([]byte(asked.Selector))[:4], common.FromHex(asked.Parameter)...)
	}
	sent, _ := json.Marshal(object{ // texts and numbers only
		"from": owner, "to": contract, "value": hexutil.Uint64(asked.CallValue), "data": hexutil.Bytes(data),
	})
	head, err := s.blockAt(ctx, "latest", false)
	if err != nil {
		return nil, err
	}
	now := 1000 * head.number("timestamp")
	made := rawData{
		expiration: now + 60_000, timestamp: now, feeLimit: asked.FeeLimit,
		owner: owner.Address, contract: contract.Address, value: asked.CallValue, data: data,
	}
	made.on(head.number("number"), common.HexToHash(fmt.Sprint(head["hash"])))
	answered := object{"result": object{"result": true}, "transaction": made.json()}
	if !isConstant {
		return answered, nil
	}
	result, err := s.run(ctx, "eth_call", sent)
	if refused, is := errors.AsType[*jsonrpc.Error](err); is {
		if refused.Code == jsonrpc.InvalidRequest {
			return object{"result": failure("CONTRACT_VALIDATE_ERROR", refused.Message)}, nil
		}
		answered["result"] = object{"result": true, "message": bare([]byte("REVERT opcode executed"))}
		answered["constant_result"] = []string{strings.TrimPrefix(fmt.Sprint(refused.Data), "0x")}
		return answered, nil
	}
	if err != nil {
		return object{"result": failure("CONTRACT_EXE_ERROR", err.Error())}, nil
	}
	var returned hexutil.Bytes
	var energy hexutil.Uint64
	raw, err := s.run(ctx, "eth_estimateGas", sent)
	if err == nil {
		err = errors.Join(json.Unmarshal(raw.(json.RawMessage), &energy), json.Unmarshal(result.(json.RawMessage), &returned))
	}
	answered["energy_used"], answered["constant_result"] = uint64(energy), []string{bare(returned)}
	return answered, err
}

func failure(code, message string) object {
	return object{"code": code, "message": bare([]byte(message))}
}

// broadcast sends a call that its owner has signed.
func (s *server) broadcast(ctx context.Context, asked request) (object, error) {
	raw := common.FromHex(asked.RawDataHex)
	id := common.Hash(sha256.Sum256(raw))
	refuse := func(code, message string) (object, error) {
		failed := failure(code, message)
		failed["txid"] = bare(id[:])
		return failed, nil
	}
	made, isCall := decodeRawData(raw)
	if !isCall {
		return refuse("CONTRACT_VALIDATE_ERROR", "contract type is not supported here, or malformed")
	}
	if len(asked.Signature) != 1 || !isSignedBy(made.owner, id, common.FromHex(asked.Signature[0])) {
		return refuse("SIGERROR", "Validate signature error")
	}
	head, err := s.blockAt(ctx, "latest", false)
	if err != nil {
		return nil, err
	}
	if now := 1000 * head.number("timestamp"); made.expiration <= now {
		return refuse("TRANSACTION_EXPIRATION_ERROR", "Transaction expired")
	}
	if after, err := s.refersTo(ctx, made, head.number("number")); err != nil || !after {
		if err == nil {
			return refuse("TAPOS_ERROR", "Tapos check error")
		}
		return nil, err
	}
	switch err := s.node.send(ctx, id, made); {
	case errors.Is(err, errSent):
		return refuse("DUP_TRANSACTION_ERROR", "Dup transaction.")
	case err != nil:
		return refuse("CONTRACT_VALIDATE_ERROR", err.Error())
	}
	return object{"result": true, "txid": bare(id[:])}, nil
}

func isSignedBy(owner common.Address, id common.Hash, signature []byte) bool {
	if len(signature) != crypto.SignatureLength {
		return false
	}
	if signature = bytes.Clone(signature); signature[64] >= 27 {
		signature[64] -= 27
	}
	key, err := crypto.SigToPub(id[:], signature)
	return err == nil && crypto.PubkeyToAddress(*key) == owner
}

// refersTo reports whether a call refers to one of the last 65,536 blocks.
func (s *server) refersTo(ctx context.Context, made rawData, head uint64) (bool, error) {
	if len(made.refBlockBytes) != 2 {
		return false, nil
	}
	number := head&^0xffff | uint64(made.refBlockBytes[0])<<8 | uint64(made.refBlockBytes[1])
	if number > head {
		number -= 1 << 16 // below zero there is no such block
	}
	found, err := s.blockAt(ctx, height(hexutil.EncodeUint64(number)), false)
	return bytes.Equal(common.HexToHash(fmt.Sprint(found["hash"])).Bytes()[8:16], made.refBlockHash), err
}

var errSent = errors.New("transaction was sent before")

// send executes a call on the underlying node, signed with its owner's key there.
func (n named) send(ctx context.Context, id common.Hash, made rawData) error {
	key := n.wallet.Keys[made.owner]
	if key == nil {
		return errors.New("no OwnerAccount")
	}
	n.wallet.sending.Lock()
	defer n.wallet.sending.Unlock()
	var nonce, chainID hexutil.Uint64
	if err := errors.Join(n.Client.CallContext(ctx, &nonce, "eth_getTransactionCount", made.owner, "pending"),
		n.Client.CallContext(ctx, &chainID, "eth_chainId")); err != nil {
		return err
	}
	const mostGas = 30_000_000 // half a block
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(new(big.Int).SetUint64(uint64(chainID))), &types.LegacyTx{
		Nonce: uint64(nonce), To: &made.contract, Value: new(big.Int).SetUint64(made.value), Data: made.data,
		Gas: min(made.feeLimit/EnergyPrice, mostGas), GasPrice: big.NewInt(2 * EnergyPrice), // its fees vary
	})
	if err != nil {
		return err
	}
	raw, err := tx.MarshalBinary()
	if err != nil || !n.wallet.name(tx.Hash(), id) {
		return errors.Join(err, errSent)
	}
	if err := n.Client.CallContext(ctx, nil, "eth_sendRawTransaction", hexutil.Bytes(raw)); err != nil {
		n.wallet.forget(tx.Hash(), id)
		return err
	}
	return nil
}

// name maps an underlying transaction to its ID on TRON, and reports whether that ID is new.
func (w *Wallet) name(below, id common.Hash) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hashes[id] != (common.Hash{}) {
		return false
	}
	if w.ids == nil {
		w.ids, w.hashes = map[common.Hash]common.Hash{}, map[common.Hash]common.Hash{}
	}
	w.ids[below], w.hashes[id] = id, below
	return true
}

func (w *Wallet) forget(below, id common.Hash) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.ids, below)
	delete(w.hashes, id)
}

// info returns the outcome of a transaction; empty until it is in a block.
func (s *server) info(ctx context.Context, asked request) (object, error) {
	var id hash
	if err := id.UnmarshalText([]byte(asked.Value)); err != nil {
		return nil, err
	}
	found, err := s.receipt(ctx, id)
	if err != nil || found == nil {
		return object{}, err
	}
	energy, result := found.number("gasUsed"), "SUCCESS"
	about := object{"id": bare(id.Bytes()), "blockNumber": found.number("blockNumber"), "fee": EnergyPrice * energy}
	if found.number("status") == 0 {
		result, about["result"] = "REVERT", "FAILED"
	}
	about["receipt"] = object{"energy_usage_total": energy, "result": result}
	return about, nil
}
