package stories_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crossgate/chain"
	messages "crossgate/chain/solana"
	"crossgate/config"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/sandbox/solana"
)

// swapChange changes the instruction of a venue's program in a message, given what the venue's answer says comes out.
type swapChange func(m *messages.Draft, swap *messages.DraftInstruction, quoted uint64)

// TestNoVenueOnSolanaPaysAStranger puts a venue between the gateway and DFlow whose transactions pay a stranger, or
// enforce less than it says. A client gets none of them, however what comes out is paid.
func TestNoVenueOnSolanaPaysAStranger(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	c := swapsAlone(t, world)
	c.Venues = slices.DeleteFunc(c.Venues, func(v config.Venue) bool { return v.Name != "dflow" })
	var change swapChange
	asked := 0
	between(t, &c, "dflow", func(body []byte) []byte { return changedSwap(body, change) })
	_, address := serveConfig(t, c)
	w := newSolanaTrader(t, world, address)
	stranger := world.Accounts()[1].Wallet.Key
	for _, one := range solanaCases {
		token := solana.Tokens[0]
		for _, listed := range solana.Tokens {
			if one.out == listed.Symbol {
				token = listed
			}
		}
		recipient, sender := keyOf(w.recipient(one)), keyOf(w.address())
		theirs := accountOf(token.Wallet(stranger))
		inPlaceOf := map[chain.Address]chain.Address{accountOf(token.Wallet(recipient)): theirs, accountOf(token.Wallet(sender)): theirs}
		if recipient != sender {
			inPlaceOf[accountOf(recipient)] = accountOf(stranger)
		}
		for name, made := range map[string]swapChange{
			"nothing changed": func(*messages.Draft, *messages.DraftInstruction, uint64) {},
			"a stranger's account in the place of the recipient's": func(_ *messages.Draft, swap *messages.DraftInstruction, _ uint64) {
				for i, account := range swap.Accounts {
					if another, replaced := inPlaceOf[account.Address]; replaced {
						swap.Accounts[i].Address = another
						swap.Accounts = append(swap.Accounts, messages.DraftAccount{Address: account.Address, Writable: true})
					}
				}
			},
			"a minimum of one": func(_ *messages.Draft, swap *messages.DraftInstruction, quoted uint64) {
				was, is := binary.LittleEndian.AppendUint64(nil, quoted), binary.LittleEndian.AppendUint64(nil, 1)
				swap.Data = bytes.Replace(swap.Data, was, is, 1)
			},
		} {
			change, asked = made, asked+1
			query := strings.Replace(w.query(one), "tokenInAmount=", fmt.Sprint("tokenInAmount=", asked), 1) // quotes are shared
			var told struct {
				Aggregators []struct{ Verdict, Reason string }
			}
			get(t, address+strings.Replace(query, "transaction?", "transaction/explain?", 1), &told)
			response, err := http.Get(address + query)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if given := response.StatusCode == http.StatusOK; given != (name == "nothing changed") {
				t.Errorf("%s, for another %t, with %s: %s, X-Unsimulated %q, %v",
					one, one.toStranger, name, response.Status, response.Header.Get("X-Unsimulated"), told.Aggregators)
			}
		}
	}
}

func keyOf(text string) solana.Key {
	key, err := solana.ParseKey(text)
	if err != nil {
		panic(err)
	}
	return key
}

func accountOf(key solana.Key) chain.Address { return chain.NewAddress(key[:]) }

// changedSwap is an answer of DFlow's with another transaction.
func changedSwap(body []byte, change swapChange) []byte {
	var answer map[string]any
	if json.Unmarshal(body, &answer) != nil || answer["transaction"] == nil {
		return body
	}
	raw, err := base64.StdEncoding.DecodeString(answer["transaction"].(string))
	if err != nil {
		panic(err)
	}
	m, err := messages.ParseUnsigned(raw)
	if err != nil {
		panic(err)
	}
	quoted, err := strconv.ParseUint(answer["outAmount"].(string), 10, 64)
	if err != nil {
		panic(err)
	}
	d := m.Draft()
	for i := range d.Instructions {
		if strings.HasPrefix(d.Instructions[i].Program.Format(chain.SVM), "DF1ow4") {
			change(&d, &d.Instructions[i], quoted)
		}
	}
	answer["transaction"], err = d.Compile()
	if err != nil {
		panic(err)
	}
	changed, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return changed
}
