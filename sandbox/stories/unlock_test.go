package stories_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/google/go-cmp/cmp"

	"crossgate/sandbox/solana"
)

// encodedJSON is a value as deBridge's own taker reads it: amounts and ids by their text, addresses by a list in a text,
// which is empty for an address that the order leaves open.
type encodedJSON struct{ StringValue, BytesArrayValue string }

type encodedOffer struct{ ChainID, TokenAddress, Amount encodedJSON }

// liteJSON is an order without what happened to it. Its nonce is a bare number.
type liteJSON struct {
	MakerOrderNonce                              uint64
	GiveOffer, TakeOffer                         encodedOffer
	MakerSrc, ReceiverDst, GivePatchAuthoritySrc encodedJSON
	OrderAuthorityAddressDst, AllowedTakerDst    encodedJSON
	AllowedCancelBeneficiarySrc                  encodedJSON
	ExternalCallState                            string
}

// TestATakerReadsWhatItHasToUnlock makes the two calls of deBridge's own taker (dln-taker, StatsAPI.ts and DataStore.ts),
// in smaller pages: the ids of what each chain owes it, then each order, whose id is the hash of what was read.
func TestATakerReadsWhatItHasToUnlock(t *testing.T) {
	front := readingFront(t)
	var world worldJSON
	get(t, front.world.URL()+"/sandbox/world", &world)
	var authorities, want, got []string
	for _, a := range world.Actors {
		authorities = append(authorities, a.Address, a.Wallet)
	}
	for _, o := range world.Orders {
		if o.State == "Fulfilled" || o.State == "SentUnlock" {
			want = append(want, o.OrderID)
		}
	}
	for _, c := range world.Chains {
		got = append(got, idsToUnlock(t, front.url, c.ID, strings.Join(authorities, " "))...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("orders to unlock (-in the world +listed):\n%s", diff)
	}
	for _, id := range got {
		var o liteJSON
		get(t, front.url+"/api/Orders/"+id+"/liteModel", &o)
		if hash := o.terms(t).ID(); o.ExternalCallState == "NoExtCall" && hexutil.Encode(hash[:]) != id {
			t.Errorf("order %s is read as one with id %x", id, hash)
		}
	}
}

// idsToUnlock reads page by page until as many are there as there are in all.
func idsToUnlock(t *testing.T, gateway string, give uint64, authorities string) (ids []string) {
	t.Helper()
	const path, atOnce = "/api/Orders/getForUnlockAuthorities", 3
	for {
		response, body := ask(t, http.MethodPost, gateway+path, fmt.Sprintf(
			`{"giveChainIds":[%d],"orderStates":["Fulfilled","SentUnlock"],"unlockAuthorities":%q,"take":%d,"skip":%d}`,
			give, authorities, atOnce, len(ids)), "Content-Type: application/json")
		checkDocumented(t, response, body)
		var page struct {
			Orders     []struct{ OrderID, GiveTokenAddress, FinalGiveAmount encodedJSON }
			TotalCount int
		}
		if err := json.Unmarshal(body, &page); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s = %d, %v: %.300s", path, response.StatusCode, err, body)
		}
		for _, o := range page.Orders {
			if len(o.GiveTokenAddress.bytes(t)) == 0 || decimal(t, o.FinalGiveAmount.StringValue).Sign() == 0 {
				t.Errorf("order %s gives %+v of %+v", o.OrderID.StringValue, o.FinalGiveAmount, o.GiveTokenAddress)
			}
			ids = append(ids, o.OrderID.StringValue)
		}
		if len(page.Orders) == 0 || len(ids) >= page.TotalCount {
			return ids
		}
	}
}

// bytes is the list in the text, nil when there is none.
func (e encodedJSON) bytes(t *testing.T) (raw []byte) {
	t.Helper()
	if e.BytesArrayValue == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(e.BytesArrayValue), &raw); err != nil {
		t.Errorf("bytes %q: %v", e.BytesArrayValue, err)
	}
	return raw
}

func (l liteJSON) terms(t *testing.T) solana.Terms {
	t.Helper()
	give, take := l.GiveOffer, l.TakeOffer
	return solana.Terms{
		Nonce: l.MakerOrderNonce, Maker: l.MakerSrc.bytes(t), Receiver: l.ReceiverDst.bytes(t),
		GiveChain: decimal(t, give.ChainID.StringValue), GiveToken: give.TokenAddress.bytes(t), GiveAmount: decimal(t, give.Amount.StringValue),
		TakeChain: decimal(t, take.ChainID.StringValue), TakeToken: take.TokenAddress.bytes(t), TakeAmount: decimal(t, take.Amount.StringValue),
		PatchAuthority: l.GivePatchAuthoritySrc.bytes(t), Authority: l.OrderAuthorityAddressDst.bytes(t),
		AllowedTaker: l.AllowedTakerDst.bytes(t), CancelBeneficiary: l.AllowedCancelBeneficiarySrc.bytes(t),
	}
}
