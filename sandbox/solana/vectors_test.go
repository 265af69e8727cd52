package solana

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

// unhex decodes 0x hex in JSON.
type unhex []byte

func (u *unhex) UnmarshalText(text []byte) (err error) {
	*u, err = hex.DecodeString(strings.TrimPrefix(string(text), "0x"))
	return err
}

// realOrder is an order of the real chain.
type realOrder struct {
	Name      string `json:"name"`
	OrderID   unhex  `json:"orderId"`
	Original  string `json:"giveOriginalAmount"`
	Percent   string `json:"percentFee"`
	Referral  uint32 `json:"referralCode"`
	Metadata  unhex  `json:"metadata"`
	Unlocker  Key    `json:"unlockAuthority"`
	Affiliate *struct {
		Amount      string `json:"amount"`
		Beneficiary Key    `json:"beneficiary"`
	} `json:"affiliateFee"`
	Order struct {
		Nonce             string `json:"makerOrderNonce"`
		Maker             unhex  `json:"makerSrc"`
		GiveChain         string `json:"giveChainId"`
		GiveToken         unhex  `json:"giveTokenAddress"`
		GiveAmount        string `json:"giveAmount"`
		TakeChain         string `json:"takeChainId"`
		TakeToken         unhex  `json:"takeTokenAddress"`
		TakeAmount        string `json:"takeAmount"`
		Receiver          unhex  `json:"receiverDst"`
		PatchAuthority    unhex  `json:"givePatchAuthoritySrc"`
		Authority         unhex  `json:"orderAuthorityAddressDst"`
		AllowedTaker      unhex  `json:"allowedTakerDst"`
		CancelBeneficiary unhex  `json:"allowedCancelBeneficiarySrc"`
		ExternalCall      unhex  `json:"externalCall"`
	} `json:"order"`
}

func number(text string) *big.Int {
	n, _ := new(big.Int).SetString(text, 10)
	return n
}

func (r realOrder) terms() Terms {
	o := r.Order
	return Terms{
		Nonce: number(o.Nonce).Uint64(), Maker: o.Maker,
		GiveChain: number(o.GiveChain), GiveToken: o.GiveToken, GiveAmount: number(o.GiveAmount),
		TakeChain: number(o.TakeChain), TakeToken: o.TakeToken, TakeAmount: number(o.TakeAmount),
		Receiver: o.Receiver, PatchAuthority: o.PatchAuthority, Authority: o.Authority,
		AllowedTaker: o.AllowedTaker, CancelBeneficiary: o.CancelBeneficiary, ExternalCall: o.ExternalCall,
	}
}

// creation returns the maker's Creation of the order.
func (r realOrder) creation() Creation {
	t := r.terms()
	c := Creation{
		Maker: Account{Key: Key(t.Maker)}, Give: Token{Mint: Key(t.GiveToken)}, Amount: number(r.Original).Uint64(), Take: t.Take(),
		Receiver: t.Receiver, Authority: t.Authority, Nonce: t.Nonce, Referral: &r.Referral, Metadata: r.Metadata,
	}
	if r.Affiliate != nil {
		c.Affiliate = &Affiliate{r.Affiliate.Beneficiary, number(r.Affiliate.Amount).Uint64()}
	}
	return c
}

func realOrders(t *testing.T) []realOrder {
	t.Helper()
	var file struct{ Vectors []realOrder }
	recorded.JSON(t, "facts/dln/vectors/order_ids.json", &file)
	return file.Vectors
}

func TestRealOrdersHaveTheirIDs(t *testing.T) {
	for _, r := range realOrders(t) {
		if id := r.terms().ID(); len(r.OrderID) > 0 && !bytes.Equal(id[:], r.OrderID) {
			t.Errorf("%s: id %x, want %x", r.Name, id, []byte(r.OrderID))
		}
	}
}

func TestRealOrdersAreEncodedAsOnTheChain(t *testing.T) {
	var file struct {
		Items []struct {
			Name        string
			OrderID     unhex
			ProgramData string
			Data        unhex
		}
	}
	recorded.JSON(t, "facts/dln/vectors/solana_synthetic.json", &file)
	orders := map[string]realOrder{}
	for _, r := range realOrders(t) {
		orders[string(r.OrderID)] = r
	}
	for _, item := range file.Items {
		r := orders[string(item.OrderID)]
		want := must.Get(base64.StdEncoding.DecodeString(item.ProgramData))(t)
		var got []byte
		switch kind, _, _ := strings.Cut(item.Name, " ("); kind {
		case "CreatedOrder event":
			got = anchor("event", "CreatedOrder", r.terms().borsh(), fixFee, number(r.Percent).Uint64())
		case "CreatedOrderId event":
			got = anchor("event", "CreatedOrderId", raw(r.OrderID))
		case "Fulfilled event":
			got = anchor("event", "Fulfilled", raw(r.OrderID), r.Unlocker)
		case "create_order_with_nonce instruction data":
			got, want = r.creation().createOrder(r.terms().Nonce).Data, item.Data
			if fee := r.creation().percentFee(); fee != number(r.Percent).Uint64() {
				t.Errorf("%s: percent fee %d, want %s", item.Name, fee, r.Percent)
			}
		case "fulfill_order instruction data":
			f := Fulfilment{Terms: r.terms(), Taker: Account{Key: r.Unlocker}, UnlockAuthority: r.Unlocker}
			got, want = f.fulfillOrder(Native).Data, item.Data
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\ngot  %x\nwant %x", item.Name, got, want)
		}
	}
}

func TestAccountsOfProgramsAreDerived(t *testing.T) {
	var file struct {
		Rows []struct {
			Program string
			Seeds   []string
			Address Key
			Bump    byte
		}
	}
	recorded.JSON(t, "facts/dln/vectors/solana_pdas.json", &file)
	programs := map[string]Key{
		"src": sourceProgram, "dst": destinationProgram, "debridge": debridgeProgram, "extcall": Executor,
	}
	for _, row := range file.Rows {
		var seeds [][]byte
		for _, text := range row.Seeds {
			seed := []byte(text)
			if strings.HasPrefix(text, "0x") {
				seed, _ = hex.DecodeString(text[2:])
			}
			if text == "chainId 32 BE = 1" {
				seed = numberWord(1)
			}
			seeds = append(seeds, seed)
		}
		if at, bump := derive(programs[row.Program], seeds...); at != row.Address || bump != row.Bump {
			t.Errorf("%s %q = %s with bump %d, want %s with %d", row.Program, row.Seeds, at, bump, row.Address, row.Bump)
		}
	}
}
