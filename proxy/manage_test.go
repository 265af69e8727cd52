package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
)

// managing answers for a chain; by default every transaction creates an order.
type managing struct {
	forecasts func(creation.Transaction) ([]creation.Forecast, error)
	cancel    error
	asked     *int // number of calls; nil: not counted
}

func (m managing) count() {
	if m.asked != nil {
		*m.asked++
	}
}

func (m managing) Forecast(_ context.Context, t creation.Transaction) ([]creation.Forecast, error) {
	m.count()
	if m.forecasts != nil {
		return m.forecasts(t)
	}
	f, err := creation.Judge(t, creation.State{Chain: 8453, Contracts: chain.Contracts{DlnSource: t.To}})
	return []creation.Forecast{f}, err
}

func (m managing) Cancel(_ context.Context, _ order.ID, t order.Terms) (creation.Transaction, error) {
	m.count()
	return creation.Transaction{Sender: t.Authorities.Order, To: t.Receiver, Value: chain.NewAmount(7), Data: []byte{1}}, m.cancel
}

func (m managing) CancelCall(ctx context.Context, id order.ID, t order.Terms, amounts ...chain.Amount) (creation.Transaction, error) {
	if len(amounts) == 0 {
		return creation.Transaction{}, creation.ErrCallNotOpen
	}
	return m.Cancel(ctx, id, t)
}

func (m managing) Unlock(_ context.Context, u creation.Unlock) (creation.Transaction, error) {
	m.count()
	return creation.Transaction{Sender: u.Authority, To: u.Terms[0].Receiver, Value: chain.NewAmount(7), Data: []byte{byte(len(u.IDs))}}, m.cancel
}

const verifyPath = "/v1.0/dln/order/verify"

// creationOf returns the body of a request about an order of 10000 units to Polygon.
func creationOf(t *testing.T, members string) string {
	t.Helper()
	salt := uint64(7)
	native := chain.NativeCoin(chain.EVM)
	maker := chain.NewAddress([]byte(strings.Repeat("\xa1", 20)))
	c := creation.Creation{
		GiveToken: native, GiveAmount: chain.NewAmount(10_000), Receiver: maker, Salt: &salt, ReferralCode: 5,
		Take:        order.Offer{Chain: 137, Token: native, Amount: chain.NewAmount(9)},
		Authorities: order.Authorities{GivePatch: maker, Order: maker},
	}
	return fmt.Sprintf(`{"chainId":8453,"from":"%s","to":"0x%s","value":"0x2710","data":"0x%x"%s}`,
		maker, strings.Repeat("50", 20), c.Data(), members)
}

func TestVerifyComparesWithARequest(t *testing.T) {
	s := newWorld(t).server(t)
	request := `,"request":{"srcChainId":8453,"dstChainId":"137","dstChainTokenOutAmount":"10","srcChainTokenInAmount":10000,` +
		`"srcChainTokenIn":"0x0000000000000000000000000000000000000000","AffiliateFeeRecipient":"0x` + strings.Repeat("af", 20) + `","accesstoken":"x"}`
	response := post(s, verifyPath, creationOf(t, request))
	var answer struct {
		Verdict string
		Orders  []struct {
			OrderID  *string
			NotKnown []string
			Receiver string `json:"receiverDst"`
		}
		Differences []struct{ Parameter, Requested, Found string }
	}
	must.Do(t, json.Unmarshal(response.Body.Bytes(), &answer))
	if response.Code != http.StatusOK || answer.Verdict != "NotKnown" || len(answer.Orders) != 1 || len(answer.Orders[0].NotKnown) < 3 {
		t.Fatalf("%d %s", response.Code, response.Body)
	}
	if fmt.Sprint(answer.Differences) != "[{affiliateFeeRecipient 0x"+strings.Repeat("af", 20)+" } {dstChainTokenOutAmount 10 9}]" {
		t.Errorf("differences %v, want the affiliate and the amount", answer.Differences)
	}
}

// TestVerifyTellsOfWhatNobodyAskedFor covers an affiliate's share, an external call, and a refund to others than the
// maker that were not requested, and a larger share than requested.
func TestVerifyTellsOfWhatNobodyAskedFor(t *testing.T) {
	paid, maker := chain.NewAddress([]byte(strings.Repeat("\xaf", 20))), chain.NewAddress([]byte(strings.Repeat("\xa1", 20)))
	shared := creation.Forecast{
		Affiliate: &order.Affiliate{Beneficiary: paid, Amount: chain.NewAmount(20)}, Split: &creation.Split{Percent: chain.NewAmount(4)},
		Creation: creation.Creation{GiveAmount: chain.NewAmount(10_000), ExternalCall: []byte{1, 2}, Take: order.Offer{Chain: 137}},
	}
	returned := func(to chain.Address) creation.Forecast {
		return creation.Forecast{
			Maker: maker, Swap: &creation.Swap{RefundRecipient: to},
			Creation: creation.Creation{Authorities: order.Authorities{CancelBeneficiary: to}, Take: order.Offer{Chain: 137}},
		}
	}
	var f creation.Forecast
	var others []creation.Forecast
	s := newWorld(t).server(t, func(p *parts) {
		p.Manage = managing{forecasts: func(creation.Transaction) ([]creation.Forecast, error) {
			return append([]creation.Forecast{f}, others...), nil
		}}
	})
	check := func(request, want string) {
		t.Helper()
		text := post(s, verifyPath, creationOf(t, `,"request":`+request)).Body.String()
		if _, got, _ := strings.Cut(strings.TrimSpace(text), `"differences":`); strings.TrimSuffix(got, "}") != want {
			t.Errorf("%s: differences %s, want %s", request, got, want)
		}
	}
	f = shared
	for request, want := range map[string]string{
		`{"dstChainId":137}`: `[{"parameter":"affiliateFeeRecipient","requested":"","found":"` + paid.String() + `"},{"parameter":"externalCall","requested":"","found":"0x0102"}]`,
		`{"affiliateFeeRecipient":"` + paid.String() + `","affiliateFeePercent":"0.1","externalCall":"0x0102"}`: `[{"parameter":"affiliateFeePercent","requested":"0.1","found":"0.2"}]`,
		`{"affiliateFeeRecipient":"` + paid.String() + `","affiliateFeePercent":"0.2","externalCall":"0x0102"}`: `[]`,
		`{"affiliateFeeRecipient":"` + paid.String() + `","affiliateFeePercent":"0","externalCall":"0x0102"}`:   `[{"parameter":"affiliateFeePercent","requested":"0","found":"0.2"}]`,
		`{"affiliateFeeRecipient":"` + paid.String() + `","affiliateFeePercent":"0.3","externalCall":"0x0102"}`: `[{"parameter":"affiliateFeePercent","requested":"0.3","found":"0.2"}]`,
		`{"affiliateFeeRecipient":"` + paid.String() + `","affiliateFeePercent":"1e1","externalCall":"0x0102"}`: `[{"parameter":"affiliateFeePercent","requested":"1e1","found":"0.2"}]`,
		`{"affiliateFeeRecipient":"` + paid.String() + `","externalCall":"0x0102"}`:                             `[{"parameter":"affiliateFeePercent","requested":"","found":"0.2"}]`,
	} {
		check(request, want)
	}
	f.Affiliate.Amount = chain.NewAmount(19) // of what the protocol leaves
	check(`{"affiliateFeeRecipient":"`+paid.String()+`","affiliateFeePercent":"0.2","externalCall":"0x0102"}`, `[]`)
	f.Affiliate = nil
	check(`{"affiliateFeeRecipient":"`+paid.String()+`","affiliateFeePercent":"0.009","externalCall":"0x0102"}`, `[]`) // less than a unit
	check(`{"affiliateFeeRecipient":"`+paid.String()+`","affiliateFeePercent":"0.02","externalCall":"0x0102"}`, `[{"parameter":"affiliateFeeRecipient","requested":"`+paid.String()+`","found":""}]`)
	f = returned(paid)
	check(`{"dstChainId":137}`, `[{"parameter":"srcAllowedCancelBeneficiary","requested":"","found":"`+paid.String()+`"},{"parameter":"srcChainRefundAddress","requested":"","found":"`+paid.String()+`"}]`)
	check(`{"srcAllowedCancelBeneficiary":"`+paid.String()+`","srcChainRefundAddress":"`+paid.String()+`"}`, `[]`)
	f = creation.Forecast{Maker: maker, Creation: creation.Creation{
		Receiver: paid, Authorities: order.Authorities{GivePatch: paid, Order: paid}, Take: order.Offer{Chain: 137},
	}}
	unasked := `{"parameter":"%s","requested":"","found":"` + paid.String() + `"}`
	check(`{"dstChainId":137}`, fmt.Sprintf("["+unasked+","+unasked+","+unasked+"]",
		"dstChainOrderAuthorityAddress", "dstChainTokenOutRecipient", "srcChainOrderAuthorityAddress"))
	f = creation.Forecast{Creation: creation.Creation{Receiver: maker, Take: order.Offer{Chain: chain.Tron, Token: paid}}}
	inHex := fmt.Sprintf(`{"dstChainTokenOutRecipient":"41%x","dstChainTokenOut":"0x`, maker.Bytes())
	check(inHex+strings.Repeat("AF", 20)+`"}`, `[]`)
	check(inHex+strings.Repeat("AE", 20)+`"}`, `[{"parameter":"dstChainTokenOut","requested":"0x`+strings.Repeat("AE", 20)+`","found":"`+paid.Format(chain.TVM)+`"}]`)
	f = returned(maker)
	check(`{"dstChainId":137}`, `[]`)
	others = []creation.Forecast{f} // takes the amount once more
	check(`{"dstChainId":137}`, `[{"parameter":"orders","requested":"1","found":"2"}]`)
	others = nil
	f.Creation.Take.Chain, f.Creation.Receiver = chain.Tron, paid
	for _, form := range []string{"0x" + paid.String()[2:], "41" + paid.String()[2:], paid.Format(chain.TVM)} {
		check(`{"dstChainTokenOutRecipient":"`+form+`"}`, `[]`)
	}
	f = returned(maker)
	hook := func(fallback chain.Address) []byte {
		c := creation.Call{Fallback: fallback, Executor: chain.NativeCoin(chain.EVM), Delayed: true, Payload: creation.CallPayload(paid, 7, []byte{1, 2, 3, 4})}
		return c.Envelope()
	}
	for _, found := range [][]byte{hook(maker), hook(paid), nil} {
		text, want := "", "[]"
		if f.Creation.ExternalCall = found; found != nil {
			text = fmt.Sprintf("0x%x", found)
		}
		if !slices.Equal(found, hook(maker)) {
			want = fmt.Sprintf(`[{"parameter":"externalCall","requested":"0x%x","found":"%s"}]`, hook(maker), text)
		}
		f.Creation.Receiver = maker
		check(fmt.Sprintf(`{"dstChainTokenOutRecipient":%q,"dlnHook":{"type":"evm_transaction_call","data":{"to":%q,"calldata":"0x01020304","gas":7}}}`, maker, paid), want)
	}
	onSolana, _ := chain.Documented().Chain(chain.Solana)
	f.Creation.Take.Chain, f.Creation.Receiver, f.Creation.ExternalCall = chain.Solana, onSolana.Contracts.ExternalCallAdapter, []byte{1}
	hooked := `{"dstChainTokenOutRecipient":"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v","dlnHook":{"type":"solana_serialized_instructions","data":{"instructions":"0x01"}}}`
	check(hooked, `[]`)
}

// TestVerifyTellsAddressesOfSolanaApart proves that base58 is case-sensitive.
func TestVerifyTellsAddressesOfSolanaApart(t *testing.T) {
	const paid, wanted = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "epjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	receiver := must.Get(chain.ParseAddress(paid, chain.SVM))(t)
	s := newWorld(t).server(t, func(p *parts) {
		p.Manage = managing{forecasts: func(creation.Transaction) ([]creation.Forecast, error) {
			return []creation.Forecast{{Creation: creation.Creation{Receiver: receiver, Take: order.Offer{Chain: chain.Solana}}}}, nil
		}}
	})
	for recipient, want := range map[string]bool{paid: false, wanted: true} {
		text := post(s, verifyPath, creationOf(t, `,"request":{"dstChainTokenOutRecipient":"`+recipient+`"}`)).Body.String()
		if strings.Contains(text, `"dstChainTokenOutRecipient"`) != want {
			t.Errorf("paid to %s in place of %s: %s", paid, recipient, text)
		}
	}
}

// TestVerifySubtractsPrependedExpenses: the input is the requested one and the expenses that the metadata names.
func TestVerifySubtractsPrependedExpenses(t *testing.T) {
	const input = 11_802_753_823 // recorded/chains/dln/create-arithmetic-A.json, 2025-05-07
	s := newWorld(t).server(t, func(p *parts) {
		p.Manage = managing{forecasts: func(creation.Transaction) ([]creation.Forecast, error) {
			metadata := must.Get(onchain.Metadata{CreationProcessType: "SrcAmountSet", OperatingExpenses: chain.NewAmount(2_753_823)}.Encode())(t)
			return []creation.Forecast{{Creation: creation.Creation{GiveAmount: chain.NewAmount(input), Metadata: metadata}}}, nil
		}}
	})
	for asked, want := range map[string]string{"11800000000": "", "11799999999": "11800000000", "11800000001": "11800000000"} {
		text := post(s, verifyPath, creationOf(t, `,"request":{"srcChainTokenInAmount":"`+asked+`","prependOperatingExpenses":true}`)).Body.String()
		if want != "" && !strings.Contains(text, `"found":"`+want+`"`) || want == "" && !strings.Contains(text, `"differences":[]`) {
			t.Errorf("%s requested: %s, want %q", asked, text, want)
		}
	}
}

// TestVerifyComparesTheInputOnSolana with what other programs and the order take together, if that is known.
func TestVerifyComparesTheInputOnSolana(t *testing.T) {
	onSolana, _ := chain.Documented().Chain(chain.Solana)
	usdc, coin := onSolana.Reserves["usd"], chain.NativeCoin(chain.SVM)
	spend := func(token chain.Address, amount uint64) order.Offer {
		return order.Offer{Token: token, Amount: chain.NewAmount(amount)}
	}
	in := func(token chain.Address) string {
		return `"srcChainTokenIn":"` + token.Format(chain.SVM) + `","srcChainTokenInAmount":"70"`
	}
	differs := func(parameter, requested, found string) string {
		return fmt.Sprintf(`{"parameter":%q,"requested":%q,"found":%q}`, parameter, requested, found)
	}
	for _, row := range []struct {
		asked   string
		spent   []order.Offer
		unknown []string
		want    string
	}{
		{in(coin), []order.Offer{spend(coin, 70)}, nil, ""},
		{in(onSolana.WrappedCoin), []order.Offer{spend(coin, 70)}, nil, ""},
		{in(coin) + `,"prependOperatingExpenses":true`, []order.Offer{spend(coin, 73)}, nil, ""},
		{in(coin), []order.Offer{spend(coin, 71)}, nil, differs("srcChainTokenInAmount", "70", "71")},
		{in(coin), []order.Offer{spend(coin, 70), spend(usdc, 5)}, nil, differs("srcChainTokenIn", coin.Format(chain.SVM), coin.Format(chain.SVM)+", "+usdc.Format(chain.SVM)) + "," + differs("srcChainTokenInAmount", "70", "70, 5")},
		{in(coin), nil, []string{creation.UnknownInput}, ""},
		{in(coin), nil, nil, differs("srcChainTokenIn", coin.Format(chain.SVM), usdc.Format(chain.SVM)) + "," + differs("srcChainTokenInAmount", "70", "9")},
	} {
		s := newWorld(t).server(t, func(p *parts) {
			p.Manage = managing{forecasts: func(creation.Transaction) ([]creation.Forecast, error) {
				metadata := must.Get(onchain.Metadata{CreationProcessType: "SrcAmountSet", OperatingExpenses: chain.NewAmount(3)}.Encode())(t)
				f := creation.Forecast{Spent: row.spent, Unknown: row.unknown, Creation: creation.Creation{GiveToken: usdc, GiveAmount: chain.NewAmount(9), Metadata: metadata}}
				return []creation.Forecast{f}, nil
			}}
		})
		text := post(s, verifyPath, `{"chainId":7565164,"data":"0x00","request":{`+row.asked+`}}`).Body.String()
		if _, got, _ := strings.Cut(text, `"differences":`); strings.TrimSpace(got) != "["+row.want+"]}" {
			t.Errorf("%s of %v: differences %s, want %s", row.asked, row.spent, got, row.want)
		}
	}
}

type appraising []creation.Warning

func (a appraising) Appraise(context.Context, order.Terms) []creation.Warning { return a }

func (a appraising) Refundable(context.Context, order.Terms) error {
	if len(a) > 0 {
		return creation.ErrNoPayee
	}
	return nil
}

// TestVerifyWarnsAsOrdersAreAppraised expects warnings only if there is an order.
func TestVerifyWarnsAsOrdersAreAppraised(t *testing.T) {
	for terms, warns := range map[*order.Terms]bool{{}: true, nil: false} {
		s := newWorld(t).server(t, func(p *parts) {
			p.Appraiser = appraising{{Code: creation.TakerNotPaid}}
			p.Manage = managing{forecasts: func(creation.Transaction) ([]creation.Forecast, error) {
				return []creation.Forecast{{Terms: terms}}, nil
			}}
		})
		text := post(s, verifyPath, creationOf(t, "")).Body.String()
		if strings.Contains(text, `"TAKER_NOT_PAID"`) != warns || !strings.Contains(text, `"Creates"`) {
			t.Errorf("terms %v: %s", terms, text)
		}
	}
}

// TestVerifyTakesTransactionsOfSolana covers hex and base64, without a sender.
func TestVerifyTakesTransactionsOfSolana(t *testing.T) {
	s := newWorld(t).server(t, func(p *parts) {
		p.Manage = managing{forecasts: func(tx creation.Transaction) ([]creation.Forecast, error) {
			if string(tx.Data) == "no transaction" {
				return nil, creation.ErrMalformed
			}
			if string(tx.Data) != "a transaction" || !tx.Sender.IsAbsent() || !tx.To.IsAbsent() {
				t.Errorf("asked about %+v", tx)
			}
			return []creation.Forecast{{Refusal: &creation.Refusal{Why: "of a test"}}}, nil
		}}
	})
	for _, data := range []string{fmt.Sprintf("0x%x", "a transaction"), "YSB0cmFuc2FjdGlvbg=="} {
		response := post(s, verifyPath, fmt.Sprintf(`{"chainId":"7565164","data":"%s"}`, data))
		if text := response.Body.String(); response.Code != http.StatusOK || !strings.Contains(text, `"Refused"`) {
			t.Errorf("%s: %d %s", data, response.Code, text)
		}
	}
	for _, data := range []string{"0x!", fmt.Sprintf("0x%x", "no transaction")} {
		wantError(t, post(s, verifyPath, fmt.Sprintf(`{"chainId":7565164,"data":%q}`, data)).Result(), http.StatusBadRequest, "INVALID_BODY")
	}
}

// TestVerifyRefusesBadRequests proves that the chain is only asked about the valid one.
func TestVerifyRefusesBadRequests(t *testing.T) {
	asked := 0
	s := newWorld(t).server(t, func(p *parts) { p.Manage = managing{asked: &asked} })
	good := creationOf(t, "")
	for name, test := range map[string]struct{ body, id, text string }{
		"no object":        {`[]`, "INVALID_BODY", "JSON object"},
		"nothing":          {`{}`, "INVALID_BODY", "100000031; from must be an address: 0x followed by 40 hex digits, or base58 on Solana or TRON; to must be an address: 0x followed by 40 hex digits, or base58 on Solana or TRON; data must be calldata"},
		"unknown chain":    {strings.Replace(good, "8453", "17", 1), "INVALID_BODY", "chainId must be"},
		"foreign address":  {strings.Replace(good, `"from":"0x`, `"from":"T`, 1), "INVALID_BODY", "from must be"},
		"odd data":         {strings.Replace(good, `"data":"0x`, `"data":"0x0`, 1), "INVALID_BODY", "data must be"},
		"negative value":   {strings.Replace(good, `"0x2710"`, `"-1"`, 1), "INVALID_BODY", "value must be"},
		"value too large":  {strings.Replace(good, `"0x2710"`, `"0x1`+strings.Repeat("0", 64)+`"`, 1), "INVALID_BODY", "value must be"},
		"no request":       {strings.Replace(good, `"chainId"`, `"request":"x","chainId"`, 1), "INVALID_BODY", "request must be"},
		"another function": {strings.Replace(good, "b9303701", "a9059cbb", 1), "NOT_AN_ORDER_CREATION", "creates no order"},
		"chain not served": {strings.Replace(good, "8453", "137", 1), "CHAIN_NOT_SERVED", ""},
	} {
		response := post(s, verifyPath, test.body)
		if text := response.Body.String(); response.Code != http.StatusBadRequest || !strings.Contains(text, test.id) || !strings.Contains(text, test.text) {
			t.Errorf("%s: %d %s, want %s, %s", name, response.Code, text, test.id, test.text)
		}
	}
	if asked != 1 {
		t.Errorf("the chain was asked %d times, want once, about another function", asked)
	}
}

// TestCancelsSayWhoMaySend requests the cancel of an open order, and cancels that are impossible.
func TestCancelsSayWhoMaySend(t *testing.T) {
	w, asked := newWorld(t), 0
	made := *w.orders[createdTx][0]
	open := &made
	open.Terms.Receiver = address(t, usdcText)
	open.Terms.Authorities = order.Authorities{GivePatch: address(t, usdcText), Order: open.Terms.Receiver}
	s := w.server(t, func(p *parts) {
		byID := p.Orders.(*answering).byID
		p.Orders.(*answering).byID = func(ctx context.Context, id order.ID) (*order.Order, error) {
			if id == open.ID {
				return open, nil
			}
			return byID(ctx, id)
		}
		p.Manage = managing{asked: &asked}
	})
	path := "/v1.0/dln/order/" + open.ID.String()
	response := get(s, path+"/cancel-tx")
	var answer struct {
		From, CancelBeneficiary, Value string
		ChainID                        uint64
	}
	text := body(t, response)
	must.Do(t, json.Unmarshal(text, &answer))
	authorities := open.Terms.Authorities
	if response.StatusCode != http.StatusOK || answer.Value != "7" || answer.ChainID != uint64(open.Terms.Take.Chain) ||
		answer.From != authorities.Order.String() || answer.CancelBeneficiary != creation.Beneficiary(open.Terms).String() {
		t.Errorf("%s", text)
	}
	wantStatus(t, path+"/extcall-cancel-tx", get(s, path+"/extcall-cancel-tx"), http.StatusOK)
	for state, id := range map[order.State]string{
		order.StateFulfilled: "ORDER_ALREADY_FULFILLED", order.StateClaimedUnlock: "ORDER_ALREADY_FULFILLED",
		order.StateSentOrderCancel: "ORDER_ALREADY_CANCELLED", order.StateClaimedOrderCancel: "ORDER_ALREADY_CANCELLED",
	} {
		changed := *open
		changed.State = state
		open = &changed
		wantError(t, get(s, path+"/cancel-tx"), http.StatusBadRequest, id)
	}
	for _, which := range []string{"/cancel-tx", "/extcall-cancel-tx"} {
		wantError(t, get(s, "/v1.0/dln/order/0x12"+which), http.StatusBadRequest, "INVALID_QUERY_PARAMETERS")
		wantError(t, get(s, "/v1.0/dln/order/"+order.ID{0xee}.String()+which), http.StatusBadRequest, "UNKNOWN_ORDER")
	}
	if asked != 2 {
		t.Errorf("%d transactions were made, want 2", asked)
	}
	for _, call := range []order.ExternalCallState{order.Completed, order.Failed} { // with the fill
		executed := *open
		executed.Call = call
		done := w.server(t, func(p *parts) {
			p.Orders.(*answering).byID = func(context.Context, order.ID) (*order.Order, error) { return &executed, nil }
			p.Manage = managing{cancel: creation.ErrCallNotOpen}
		})
		wantError(t, get(done, path+"/extcall-cancel-tx"), http.StatusBadRequest, "EXTERNALCALL_ALREADY_EXECUTED")
	}
	for cause, id := range map[error]string{
		creation.ErrCallExecuted: "EXTERNALCALL_ALREADY_EXECUTED", creation.ErrCallNotOpen: "EXTERNALCALL_CANNOT_BE_DETACHED",
		creation.ErrNoCall: "NO_EXTERNALCALL_ATTACHED", creation.ErrUnknownCall: "EXTERNALCALL_NOT_KNOWN",
		creation.ErrCancelled: "ORDER_ALREADY_CANCELLED", quote.ErrReverted: "TRANSACTION_WOULD_REVERT",
	} {
		failing := w.server(t, func(p *parts) {
			p.Orders.(*answering).byID = func(context.Context, order.ID) (*order.Order, error) { return open, nil }
			p.Manage = managing{cancel: fmt.Errorf("%w: of a test", cause)}
		})
		wantError(t, get(failing, path+"/extcall-cancel-tx"), http.StatusBadRequest, id)
	}
	open.State = order.StateCreated
	open.Terms.Take.Chain = chain.Tron
	for _, refuses := range []appraising{nil, {{Code: creation.BeneficiaryRefuses}}} {
		onTron := w.server(t, func(p *parts) {
			p.Orders.(*answering).byID = func(context.Context, order.ID) (*order.Order, error) { return open, nil }
			p.Manage, p.Appraiser = managing{}, refuses
		})
		response := get(onTron, path+"/cancel-tx")
		if refuses != nil { // the coin, with which every refund is paid
			wantError(t, response, http.StatusBadRequest, "REFUND_LOST")
			continue
		}
		var answer struct{ To, From string }
		must.Do(t, json.Unmarshal(body(t, response), &answer))
		if answer.To != open.Terms.Receiver.Checksum() || answer.From != authorities.Order.Format(chain.TVM) {
			t.Errorf("on TRON: %+v, want a contract in hex as in create-tx, sent by an account in base58", answer)
		}
	}
}

// TestUnlocksSayWhoMaySend requests unlocks of fulfilled orders, alone and together, and unlocks that are impossible.
func TestUnlocksSayWhoMaySend(t *testing.T) {
	w, asked := newWorld(t), 0
	delivered := map[order.ID]*order.Order{}
	authority := address(t, usdcText)
	add := func(n byte, change func(*order.Order)) string {
		made := *w.orders[createdTx][0]
		made.ID, made.State = order.ID{n}, order.StateFulfilled
		made.Fulfilled = &order.Seen[order.Fulfilled]{Fact: order.Fulfilled{UnlockAuthority: authority}}
		change(&made)
		delivered[made.ID] = &made
		return made.ID.String()
	}
	one, other := add(1, func(*order.Order) {}), add(2, func(*order.Order) {})
	server := func(cause error) *site {
		return w.server(t, func(p *parts) {
			p.Orders.(*answering).byID = func(_ context.Context, id order.ID) (*order.Order, error) {
				if found := delivered[id]; found != nil {
					return found, nil
				}
				return nil, order.ErrNotFound
			}
			p.Manage = managing{cancel: cause, asked: &asked}
		})
	}
	s := server(nil)
	path := func(beneficiary string, ids ...string) string {
		return "/v1.0/dln/order/unlock-tx?unlockBeneficiary=" + beneficiary + "&orderIds=" + strings.Join(ids, ",")
	}
	for count, ids := range map[int][]string{1: {one}, 2: {one, other}} {
		var answer struct{ From, UnlockBeneficiary, Value, Data string }
		text := body(t, get(s, path(taker, ids...)))
		must.Do(t, json.Unmarshal(text, &answer))
		if answer.From != authority.String() || !strings.EqualFold(answer.UnlockBeneficiary, taker) || answer.Value != "7" || answer.Data != fmt.Sprintf("0x%02x", count) {
			t.Errorf("%s", text)
		}
	}
	open := add(3, func(o *order.Order) { o.State = order.StateCreated })
	sent := add(4, func(o *order.Order) { o.State = order.StateSentUnlock })
	foreign := add(5, func(o *order.Order) { o.Fulfilled.Fact.UnlockAuthority = address(t, taker) })
	elsewhere := add(6, func(o *order.Order) { o.Terms.Give.Chain = 137 })
	to := add(7, func(o *order.Order) { o.Terms.Take.Chain = 42161 })
	fromSolana := func(token byte) func(*order.Order) {
		return func(o *order.Order) {
			o.Terms.Give = order.Offer{Chain: chain.Solana, Token: chain.NewAddress([]byte{token})}
		}
	}
	solana, token := add(8, fromSolana(1)), add(9, fromSolana(2))
	const wallet = "So11111111111111111111111111111111111111112"
	for name, test := range map[string]struct{ path, id string }{
		"nothing":                   {"/v1.0/dln/order/unlock-tx", "INVALID_QUERY_PARAMETERS"},
		"no id":                     {path(taker, "0x12"), "INVALID_QUERY_PARAMETERS"},
		"an id twice":               {path(taker, one, one), "INVALID_QUERY_PARAMETERS"},
		"the zero address":          {path("0x"+strings.Repeat("0", 40), one), "INVALID_QUERY_PARAMETERS"},
		"another family's address":  {path(wallet, one), "INVALID_QUERY_PARAMETERS"},
		"an unknown order":          {path(taker, one, order.ID{0xee}.String()), "UNKNOWN_ORDER"},
		"an open order":             {path(taker, one, open), "ORDER_NOT_AWAITING_UNLOCK"},
		"a sent unlock":             {path(taker, sent), "ORDER_NOT_AWAITING_UNLOCK"},
		"two authorities":           {path(taker, one, foreign), "ORDERS_NOT_UNLOCKED_TOGETHER"},
		"two give chains":           {path(taker, one, elsewhere), "ORDERS_NOT_UNLOCKED_TOGETHER"},
		"two take chains":           {path(taker, one, to), "ORDERS_NOT_UNLOCKED_TOGETHER"},
		"two give tokens on Solana": {path(wallet, solana, token), "ORDERS_NOT_UNLOCKED_TOGETHER"},
		"a chain not served":        {path(taker, to), "CHAIN_NOT_SERVED"},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, get(s, test.path), http.StatusBadRequest, test.id) })
	}
	if asked != 2 {
		t.Errorf("%d transactions were made, want 2", asked)
	}
	for cause, id := range map[error]string{
		creation.ErrNotOwed: "ORDER_NOT_AWAITING_UNLOCK", quote.ErrReverted: "TRANSACTION_WOULD_REVERT",
	} {
		wantError(t, get(server(fmt.Errorf("%w: of a test", cause)), path(taker, one)), http.StatusBadRequest, id)
	}
}
