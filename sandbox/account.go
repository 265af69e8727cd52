package sandbox

import (
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/sandbox/solana"
)

// Account is one party in the sandbox, with a key pair for the EVM chains and one for Solana. The keys are public: they
// derive from a fixed text and are the same at every start.
type Account struct {
	Name    string
	Address common.Address
	// Wallet is the account on Solana.
	Wallet solana.Account
	key    *ecdsa.PrivateKey
}

// on returns the account's address as orders hold it on a chain.
func (a Account) on(id chain.ID) []byte {
	if id == chain.Solana {
		return a.Wallet.Key[:]
	}
	return a.Address.Bytes()
}

// isNobody reports whether this is the zero account.
func (a Account) isNobody() bool { return a.key == nil }

// PrivateKey returns the EVM private key in 0x-prefixed hex.
func (a Account) PrivateKey() string { return hexutil.Encode(crypto.FromECDSA(a.key)) }

// cast holds the accounts by the part they play.
type cast struct {
	owner     Account // of the contracts
	keeper    Account // claims messages on behalf of others
	affiliate Account
	courier   Account // fulfils orders that come from Solana
	makers    []Account
	takers    []Account
	users     []Account // for users of the sandbox; they own no order of the history
}

const (
	makerCount = 6
	takerCount = 3
	userCount  = 10
)

func newCast() cast {
	return cast{
		owner:     newAccount("owner"),
		keeper:    newAccount("keeper"),
		affiliate: newAccount("affiliate"),
		courier:   newAccount("courier"),
		makers:    newAccounts("maker", makerCount),
		takers:    newAccounts("taker", takerCount),
		users:     newAccounts("user", userCount),
	}
}

// all returns every account, the owner first.
func (c cast) all() []Account {
	return slices.Concat([]Account{c.owner, c.keeper, c.affiliate, c.courier}, c.makers, c.takers, c.users)
}

func newAccounts(name string, count int) []Account {
	accounts := make([]Account, count)
	for i := range accounts {
		accounts[i] = newAccount(fmt.Sprintf("%s %d", name, i+1))
	}
	return accounts
}

func newAccount(name string) Account {
	key, err := crypto.ToECDSA(seed("account " + name).Bytes())
	if err != nil {
		panic(fmt.Sprintf("sandbox account %s: %v", name, err))
	}
	return Account{
		Name: name, Address: crypto.PubkeyToAddress(key.PublicKey), key: key,
		Wallet: solana.NewAccount(name, seed("wallet "+name)),
	}
}

// madeAddress derives an address for a contract that has none in the real world.
func madeAddress(name string) common.Address {
	return common.BytesToAddress(seed("address " + name).Bytes())
}

func seed(name string) common.Hash { return crypto.Keccak256Hash([]byte("crossgate sandbox: " + name)) }

// units converts a decimal number of whole tokens to smallest units, such as units("12.5", 6). It panics on digits
// beyond the decimals.
func units(amount string, decimals int) *big.Int {
	whole, ok := new(big.Rat).SetString(amount)
	if !ok {
		panic(fmt.Sprintf("%q is not a number", amount))
	}
	scaled := whole.Mul(whole, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)))
	if !scaled.IsInt() {
		panic(fmt.Sprintf("%s has more than %d decimals", amount, decimals))
	}
	return scaled.Num()
}
