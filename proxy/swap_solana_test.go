package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"crossgate/quote"
)

// TestSolanaWithoutASenderIsAnEstimate asks as those do who want to show a price.
func TestSolanaWithoutASenderIsAnEstimate(t *testing.T) {
	const (
		wallet = "29d2S7vB453rNYFdR5Ycwt7y9haRT5fwVwL9zTmBhfV2"
		query  = "chainId=7565164&tokenIn=11111111111111111111111111111111" +
			"&tokenOut=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v&tokenOutRecipient=" + wallet
	)
	w := newWorld(t)
	answer := get(w.server(t), swapPath+"?"+query+"&tokenInAmount=1000000")
	if text := string(body(t, answer)); answer.StatusCode != http.StatusOK || !strings.HasPrefix(text, `{"tokenIn":{`) {
		t.Errorf("%d %s, want an estimate", answer.StatusCode, text)
	}
	if r := w.lastSwap; !r.Recipient.IsAbsent() || !r.TokenIn.IsNative() {
		t.Errorf("without a sender: %+v; want a swap without a transaction", r)
	}
	if answer := get(w.server(t), swapPath+"?"+query+"&tokenInAmount=max"); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("the whole balance of an unknown sender: %d, want 400", answer.StatusCode)
	}
	get(w.server(t), swapPath+"?"+query+"&tokenInAmount=max&senderAddress="+wallet)
	if r := w.lastSwap; r.Sender != r.Recipient || !r.MaxBalance {
		t.Errorf("%+v; want a swap by the recipient", r)
	}
}

// TestSwapsByPost sends the parameters in a body, as numbers or strings, or as a form, beside those of the query.
func TestSwapsByPost(t *testing.T) {
	w := newWorld(t)
	s := w.server(t)
	if answer := get(s, goodSwap); answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", answer.StatusCode, body(t, answer))
	}
	want := w.lastSwap
	rest := `"tokenIn":"` + usdcText + `","tokenInAmount":5000000,"tokenOut":"` + wethText + `","slippage":null`
	for _, test := range []struct{ query, body string }{
		{"", `{"chainId":8453,"tokenOutRecipient":"` + nobody + `",` + rest + `}`},
		{"?chainId=1&tokenOutRecipient=" + nobody, `{"chainId":"8453",` + rest + `}`},
		{strings.TrimPrefix(goodSwap, swapPath), ``},
	} {
		w.lastSwap = quote.Request{}
		if answer := post(s, swapPath+test.query, test.body); answer.Code != http.StatusOK || w.lastSwap != want {
			t.Errorf("%s %s: %d %s, asked %+v, want %+v", test.query, test.body, answer.Code, answer.Body, w.lastSwap, want)
		}
	}
	answer := post(s, swapPath, `{"chainId":5,"tokenIn":[],`+rest[len(`"tokenIn":"`+usdcText+`",`):]+`}`)
	for _, named := range []string{"tokenIn should not be empty", "chainId must be one of", "tokenOutRecipient should not be empty"} {
		if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), named) {
			t.Errorf("%d %s does not say %q", answer.Code, answer.Body, named)
		}
	}
	if answer := post(s, swapPath, `[]`); answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), `"errorCode":1207`) {
		t.Errorf("a body that is none: %d %s", answer.Code, answer.Body)
	}
}
