package stories_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/google/go-cmp/cmp"
	"github.com/mr-tron/base58"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
	"crossgate/sandbox/solana"
)

// encodedJSON is a value as deBridge's own taker reads it: amounts and IDs as text, addresses as a list in a text,
// which is empty for an address that the order leaves open.
type encodedJSON struct{ StringValue, BytesArrayValue string }

type encodedOffer struct{ ChainID, TokenAddress, Amount encodedJSON }

// liteJSON is an order without its history. Its nonce is a bare number.
type liteJSON struct {
	MakerOrderNonce                              uint64
	GiveOffer, TakeOffer                         encodedOffer
	MakerSrc, ReceiverDst, GivePatchAuthoritySrc encodedJSON
	OrderAuthorityAddressDst, AllowedTakerDst    encodedJSON
	AllowedCancelBeneficiarySrc                  encodedJSON
	ExternalCallState                            string
}

// TestATakerReadsWhatItHasToUnlock makes the calls of deBridge's own taker (dln-taker, StatsAPI.ts and DataStore.ts),
// in smaller pages: the IDs of what each chain owes it, then each order, whose ID must be the hash of what was read.
func TestATakerReadsWhatItHasToUnlock(t *testing.T) {
	front := readingFront(t)
	world := front.facts(t)
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
}

// TestEveryOrderIsAnswered requests each order of the world by creation and by ID: its state is that of the contracts,
// and its ID the hash of the terms in the answer. What is locked for all actors together is what was delivered and not
// paid for.
func TestEveryOrderIsAnswered(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	world := front.facts(t)
	families, before, unpaid := map[uint64]int{}, map[string]int{}, map[string]bool{}
	for _, o := range world.Orders {
		families[o.ChainID]++
		families[o.TakeChainID]++
		var byCreation, byID map[string]any
		get(t, fmt.Sprintf("%s/api/Orders/creationTxHash/%s?index=%d", front.url, o.CreationTxHash, before[o.CreationTxHash]), &byCreation)
		get(t, front.url+"/api/Orders/"+o.OrderID, &byID)
		before[o.CreationTxHash]++
		compare(t, o.Title, byCreation, map[string]any{"state": o.State, "orderId": map[string]any{"stringValue": o.OrderID}})
		compare(t, o.Title, byID, byCreation)
		var lite liteJSON
		get(t, front.url+"/api/Orders/"+o.OrderID+"/liteModel", &lite)
		// Solana's creation hashes only the hash of a call.
		if hash := lite.terms(t).ID(); lite.ExternalCallState == "NoExtCall" && hexutil.Encode(hash[:]) != o.OrderID {
			t.Errorf("order %s, %s, is answered with terms whose hash is %x", o.OrderID, o.Title, hash)
		}
		if o.State == "Fulfilled" || o.State == "SentUnlock" {
			unpaid[o.OrderID] = true
		}
	}
	if len(world.Orders) < 110 || families[solanaID] < 24 || families[tronID] < 12 {
		t.Errorf("the world has %d orders, of chains %v, want 110 at least and some of each family", len(world.Orders), families)
	}
	locked := map[string]bool{}
	for _, actor := range world.Actors {
		for _, name := range []string{actor.Address, actor.Wallet} {
			_, body := ask(t, http.MethodGet, front.url+"/api/Satistics/"+name+"/lockedAssets", "")
			for _, id := range orderIDs.FindAllString(string(body), -1) {
				locked[id] = true
			}
		}
	}
	if diff := cmp.Diff(unpaid, locked); diff != "" {
		t.Errorf("locked orders (-in the world +answered):\n%s", diff)
	}
}

var orderIDs = regexp.MustCompile(`0x[0-9a-f]{64}`)

// idsToUnlock reads page by page up to the total number of IDs.
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

// bytes returns the list in the text, or nil.
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

// getOnce is get once the response is a 200.
func getOnce(t *testing.T, is, url string, out any) {
	t.Helper()
	await(t, is, func() bool {
		response, _ := ask(t, http.MethodGet, url, "")
		return response.StatusCode == http.StatusOK
	})
	get(t, url, out)
}

// takersArePaid requests the unlocks of the taker's deliveries, of one and of three, signs them with ordinary clients
// and sends them: the orders become unlocked.
func (f front) takersArePaid(t *testing.T, protocol *protocolClient) {
	world, taker := f.facts(t), f.world.Takers()[0]
	onSolana := newSolanaTrader(t, f.world, f.url)
	onSolana.key = must.Get(base58.Decode(taker.Wallet.Secret()))(t)
	on := map[uint64]*wallet{}
	for _, c := range world.Chains {
		if c.EVMRPC != "" {
			on[c.ID] = newWallet(t, c.EVMRPC, world.Takers[0].PrivateKey)
		}
	}
	address := func(id uint64) string {
		if id == solanaID {
			return taker.Wallet.Key.String()
		}
		return addressText(taker.Address.Bytes(), id)
	}
	for _, pair := range [][2]uint64{{1, 137}, {1, solanaID}, {solanaID, 1}, {solanaID, tronID}} {
		for _, count := range []int{1, 3} {
			t.Run(fmt.Sprintf("%d on %d of %d", count, pair[1], pair[0]), func(t *testing.T) {
				var ids []string
				for range count {
					var made struct{ OrderID string }
					sandboxtest.Control(t, f.world, "create", fmt.Sprintf(
						`{"chainId":%d,"takeChainId":%d,"giveToken":"USDC","giveAmount":"10","takeToken":"USDC","takeAmount":"9"}`, pair[0], pair[1]), &made)
					if count == 1 {
						var tx struct{ Data, CancelBeneficiary string }
						getOnce(t, "indexed", f.url+"/v1.0/dln/order/"+made.OrderID+"/cancel-tx", &tx)
						protocol.checkSettlement(t, pair[1], pair[0], tx.Data, tx.CancelBeneficiary, made.OrderID)
					}
					sandboxtest.Control(t, f.world, "fulfil", fmt.Sprintf(`{"orderId":%q}`, made.OrderID), &made)
					ids = append(ids, made.OrderID)
				}
				path := f.url + "/v1.0/dln/order/unlock-tx?orderIds=" + strings.Join(ids, ",") + "&unlockBeneficiary=" + address(pair[0])
				var tx struct{ To, Data, Value, From, UnlockBeneficiary string }
				getOnce(t, "known as delivered", path, &tx)
				fee := map[bool]string{true: "15000000", false: "0"}[pair[1] == solanaID] // of the sandbox's gates
				if tx.From != address(pair[1]) || tx.UnlockBeneficiary != address(pair[0]) || tx.Value != fee {
					t.Errorf("from %s with %s, paid to %s; want %s, %s, %s", tx.From, tx.Value, tx.UnlockBeneficiary, address(pair[1]), fee, address(pair[0]))
				}
				protocol.checkSettlement(t, pair[1], pair[0], tx.Data, tx.UnlockBeneficiary, ids...)
				if pair[1] == solanaID {
					onSolana.send(t, tx.Data)
				} else {
					to, _, err := chain.ParseAnyAddress(tx.To)
					must.Do(t, err)
					on[pair[1]].send(t, common.BytesToAddress(to.Bytes()), hexutil.MustDecode(tx.Data), decimal(t, tx.Value))
				}
				for _, id := range ids {
					await(t, "SentUnlock: "+id, func() bool {
						var seen struct{ State string }
						get(t, f.url+"/api/Orders/"+id, &seen)
						return seen.State == "SentUnlock"
					})
				}
				if p := problemAt(t, path); p.ErrorID != "ORDER_NOT_AWAITING_UNLOCK" {
					t.Errorf("asked again: %+v", p)
				}
			})
		}
	}
}
