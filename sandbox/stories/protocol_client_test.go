package stories_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	client "github.com/gagliardetto/solana-go"
	"github.com/google/go-cmp/cmp"

	"crossgate/internal/must"
	"crossgate/sandbox/solana"
)

// protocolClient decodes transactions with the contract and program interfaces in the protocol's own client package.
type protocolClient struct {
	abis []abi.ABI
	idls map[string]idl // by program
}

// idl is the interface of a Solana program's instructions (anchor-lang.com).
type idl struct {
	Instructions []struct {
		Name string
		Args []idlField
	}
	Types []struct {
		Name string
		Type struct{ Fields []idlField }
	}
}

type idlField struct {
	Name string
	Type any
}

// newProtocolClient reads the package. It returns nil if that is not installed; transactions are then sent undecoded.
func newProtocolClient(t *testing.T) *protocolClient {
	t.Helper()
	folder := filepath.Join("testdata", "client", "node_modules", "@debridge-finance", "dln-client", "dist", "cjs")
	_, noNode := exec.LookPath("node")
	if _, err := os.Stat(folder); err != nil || noNode != nil {
		t.Log("transactions are not decoded with the protocol's own client: npm ci --ignore-scripts in sandbox/stories/testdata/client, which make test does")
		return nil
	}
	p := &protocolClient{idls: map[string]idl{}}
	for _, name := range []string{"DlnSource", "DlnDestination", "CrosschainForwarder"} {
		var file struct{ ABI json.RawMessage }
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(folder, "evm", "assets", "abi", name+".json")))(t), &file))
		p.abis = append(p.abis, must.Get(abi.JSON(bytes.NewReader(file.ABI)))(t))
	}
	for program, name := range map[string]string{
		"src5qyZHqTqecJV4aY6Cb6zDZLMDzrDKKezs22MPHr4": "src", "dst5MGcFPoBeREFAA5E3tU5ij8m5uVYwkzkSAbsLbNo": "dst",
	} {
		print := exec.CommandContext(t.Context(), "node", "-e", `process.stdout.write(JSON.stringify(require("./solana/idl/`+name+`.js").IDL))`)
		print.Dir = folder
		var known idl
		must.Do(t, json.Unmarshal(must.Get(print.Output())(t), &known))
		p.idls[program] = known
	}
	return p
}

// call decodes calldata. For a call of the router it decodes the inner call.
func (p *protocolClient) call(t *testing.T, data []byte) (function string, arguments map[string]any) {
	t.Helper()
	for _, each := range p.abis {
		if method, err := each.MethodById(data); err == nil {
			arguments := map[string]any{}
			if err := method.Inputs.UnpackIntoMap(arguments, data[4:]); err != nil {
				t.Errorf("%s: %v", method.Name, err)
			}
			if method.Name == "strictlySwapAndCall" {
				return p.call(t, arguments["_receiverCalldata"].([]byte))
			}
			return method.Name, arguments
		}
	}
	t.Errorf("the package has no function %x", data[:4])
	return "", nil
}

var capital = regexp.MustCompile("[A-Z]")

// instruction decodes the last instruction of a Solana transaction and returns its number of accounts. The package has
// create_order, but not create_order_with_nonce, which has a nonce and metadata after the same arguments.
func (p *protocolClient) instruction(t *testing.T, raw []byte) (name string, arguments map[string]any, accounts int) {
	t.Helper()
	m := must.Get(client.TransactionFromBytes(raw))(t).Message
	in := m.Instructions[len(m.Instructions)-1]
	program := p.idls[m.AccountKeys[in.ProgramIDIndex].String()]
	is := func(name string) bool {
		hash := sha256.Sum256([]byte("global:" + name))
		return bytes.HasPrefix(in.Data, hash[:8])
	}
	for _, each := range program.Instructions {
		snake := strings.ToLower(capital.ReplaceAllString(each.Name, "_$0"))
		isNewer := snake == "create_order" && is("create_order_with_nonce")
		if !is(snake) && !isNewer {
			continue
		}
		rest, fields := []byte(in.Data[8:]), each.Args
		if isNewer {
			fields = append(slices.Clone(fields), idlField{"nonce", "u64"}, idlField{"metadata", "bytes"})
		}
		arguments := program.read(t, &rest, fields).(map[string]any)
		if len(rest) > 0 {
			t.Errorf("%d bytes behind the arguments of %s", len(rest), each.Name)
		}
		return each.Name, arguments, len(in.Accounts)
	}
	t.Errorf("the package has no instruction %x", []byte(in.Data[:8]))
	return "", nil, 0
}

// read decodes a value of a type, or the fields of a structure (borsh.io): numbers as uint64, bytes unchanged.
func (i idl) read(t *testing.T, from *[]byte, of any) any {
	t.Helper()
	take := func(size int) []byte {
		if size > len(*from) {
			t.Fatalf("a value of %d bytes, %d are left", size, len(*from))
		}
		taken := (*from)[:size]
		*from = (*from)[size:]
		return taken
	}
	switch of := of.(type) {
	case []idlField:
		values := map[string]any{}
		for _, field := range of {
			values[field.Name] = i.read(t, from, field.Type)
		}
		return values
	case string:
		switch of {
		case "u32":
			return uint64(binary.LittleEndian.Uint32(take(4)))
		case "u64":
			return binary.LittleEndian.Uint64(take(8))
		case "publicKey":
			return take(32)
		case "bytes":
			return take(int(binary.LittleEndian.Uint32(take(4))))
		}
	case map[string]any:
		if inner, is := of["option"]; is {
			if take(1)[0] == 0 {
				return nil
			}
			return i.read(t, from, inner)
		}
		if bytes, is := of["array"].([]any); is {
			return take(int(bytes[1].(float64)))
		}
		for _, each := range i.Types {
			if each.Name == of["defined"] {
				return i.read(t, from, each.Type.Fields)
			}
		}
	}
	t.Fatalf("the program's type %v is not read here", of)
	return nil
}

// creationTuple is the argument of DlnSource's creation.
type creationTuple struct {
	GiveTokenAddress            common.Address
	GiveAmount                  *big.Int
	TakeTokenAddress            []byte
	TakeAmount, TakeChainId     *big.Int //nolint:revive // the tuple's name
	ReceiverDst                 []byte
	GivePatchAuthoritySrc       common.Address
	OrderAuthorityAddressDst    []byte
	AllowedTakerDst             []byte
	ExternalCall                []byte
	AllowedCancelBeneficiarySrc []byte
}

// checkCreation compares a transaction with the request and the response.
func (p *protocolClient) checkCreation(t *testing.T, asked url.Values, made creationJSON) {
	t.Helper()
	if p == nil {
		return
	}
	give, take := decimal(t, asked.Get("srcChainId")).Uint64(), decimal(t, asked.Get("dstChainId")).Uint64()
	want := map[string]string{"dstChainTokenOutAmount": made.Estimation.Out.Amount, "salt": made.Order.Salt.String()}
	for _, name := range []string{"dstChainId", "dstChainTokenOut", "dstChainTokenOutRecipient", "dstChainOrderAuthorityAddress", "srcChainOrderAuthorityAddress"} {
		want[name] = asked.Get(name)
	}
	var got map[string]string
	tell := func(chain, amount *big.Int, token, receiver, authority, patch []byte, salt uint64) {
		got = map[string]string{
			"dstChainId": chain.String(), "dstChainTokenOut": addressText(token, take), "dstChainTokenOutAmount": amount.String(),
			"dstChainTokenOutRecipient": addressText(receiver, take), "dstChainOrderAuthorityAddress": addressText(authority, take),
			"srcChainOrderAuthorityAddress": addressText(patch, give), "salt": fmt.Sprint(salt),
		}
	}
	data := hexutil.MustDecode(made.Tx.Data)
	if give == solanaID {
		_, arguments, accounts := p.instruction(t, data)
		o := arguments["orderArgs"].(map[string]any)
		offer := o["take"].(map[string]any)
		word := func(name string) *big.Int { return new(big.Int).SetBytes(offer[name].([]byte)) }
		tell(word("chainId"), word("amount"), offer["tokenAddress"].([]byte), o["receiverDst"].([]byte), o["orderAuthorityAddressDst"].([]byte),
			o["givePatchAuthoritySrc"].([]byte), arguments["nonce"].(uint64))
		if accounts != 12 {
			t.Errorf("the creation has %d accounts, want 12", accounts)
		}
	} else {
		_, arguments := p.call(t, data)
		o := abi.ConvertType(arguments["_orderCreation"], new(creationTuple)).(*creationTuple)
		tell(o.TakeChainId, o.TakeAmount, o.TakeTokenAddress, o.ReceiverDst, o.OrderAuthorityAddressDst, o.GivePatchAuthoritySrc.Bytes(), arguments["_salt"].(uint64))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the transaction (-answered +decoded):\n%s", diff)
	}
}

// checkSettlement compares the orders of a cancel or an unlock, and the beneficiary on a chain. Executing the message
// must not cost anything.
func (p *protocolClient) checkSettlement(t *testing.T, take, give uint64, data, beneficiary string, ids ...string) {
	t.Helper()
	if p == nil {
		return
	}
	var named []string
	var paid, fee any
	raw := hexutil.MustDecode(data)
	if take == solanaID {
		name, arguments, accounts := p.instruction(t, raw)
		paid, fee = addressText(arguments[map[bool]string{true: "cancelBeneficiary", false: "beneficiary"}[name == "sendOrderCancel"]].([]byte), give), arguments["executionFee"]
		if id, is := arguments["orderId"].([]byte); is {
			named = append(named, hexutil.Encode(id))
		} else if accounts == 20+len(ids) { // after the program's own accounts come the orders'
			named = ids
		}
	} else {
		_, arguments := p.call(t, raw)
		fee = arguments["_executionFee"].(*big.Int).Uint64()
		for name, value := range arguments {
			switch value := value.(type) {
			case common.Address:
				paid = addressText(value.Bytes(), give)
			case [32]byte:
				if name == "_orderId" {
					named = append(named, hexutil.Encode(value[:]))
				} else {
					paid = addressText(value[:], give)
				}
			case [][32]byte:
				for _, id := range value {
					named = append(named, hexutil.Encode(id[:]))
				}
			}
		}
		switch {
		case arguments["_order"] != nil:
			id := abi.ConvertType(arguments["_order"], new(solana.Terms)).(*solana.Terms).ID()
			named = append(named, hexutil.Encode(id[:]))
		case arguments["_orders"] != nil:
			for _, terms := range *abi.ConvertType(arguments["_orders"], new([]solana.Terms)).(*[]solana.Terms) {
				id := terms.ID()
				named = append(named, hexutil.Encode(id[:]))
			}
		}
	}
	if !slices.Equal(named, ids) || paid != beneficiary || fee != uint64(0) {
		t.Errorf("the transaction is about %v, paid to %v, and pays %v; want %v, %s, 0", named, paid, fee, ids, beneficiary)
	}
}
