package tron

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

// TestCallsAreWrittenAsNodesWriteThem decodes java-tron's answers and encodes them again.
func TestCallsAreWrittenAsNodesWriteThem(t *testing.T) {
	for _, name := range []string{"triggersmartcontract", "triggerconstantcontract"} {
		var seen struct {
			Response struct {
				Body struct{ Transaction map[string]any }
			}
		}
		recorded.JSON(t, "chains/tron-wallet-"+name+".json", &seen)
		want := seen.Response.Body.Transaction
		delete(want, "ret")
		raw := common.FromHex(want["raw_data_hex"].(string))
		made, ok := decodeRawData(raw)
		if !ok || !bytes.Equal(made.encode(), raw) {
			t.Errorf("%s: %t, %x, want %x", name, ok, made.encode(), raw)
		}
		var got map[string]any
		must.Do(t, json.Unmarshal(must.Get(json.Marshal(made.json()))(t), &got))
		if difference := cmp.Diff(want, got); difference != "" {
			t.Errorf("%s: want -, got +:\n%s", name, difference)
		}
	}
}

// FuzzRawData decodes arbitrary bytes: a call that is accepted must survive another round of encoding and decoding.
func FuzzRawData(f *testing.F) {
	f.Add(rawData{refBlockBytes: []byte{1, 2}, expiration: 3, value: 4, data: []byte{5}}.encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		made, ok := decodeRawData(raw)
		if !ok {
			return
		}
		if again, ok := decodeRawData(made.encode()); !ok || !reflect.DeepEqual(again, made) {
			t.Errorf("%x: %+v, then %+v", raw, made, again)
		}
	})
}
