package stories_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// answered fetches url and returns the body of a 200 with its headers.
func answered(t *testing.T, method, url, body string) (string, http.Header) {
	t.Helper()
	response, text := ask(t, method, url, body)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s = %d %s", method, url, response.StatusCode, text)
	}
	return string(text), response.Header
}

// indexed is the newest indexed block of a chain. Each number asks for another taker, of whom nothing is kept.
func (f front) indexed(t *testing.T, chain string, number int) int {
	t.Helper()
	_, header := answered(t, http.MethodGet, fmt.Sprintf("%s/api/Satistics/0x%040x/lockedAssets", f.url, number+1), "")
	found := regexp.MustCompile(`(?:^|, )` + chain + `;block=(\d+)`).FindStringSubmatch(header.Get("Index-Basis"))
	if found == nil {
		t.Fatalf("Index-Basis: %q, want chain %s in it", header.Get("Index-Basis"), chain)
	}
	block, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return block
}

// TestKeptAnswersEndWhenTheIndexKnowsBetter keeps answers about an order and its taker in the cache while the order
// moves on. As soon as the index is at the block in which it did, the next answers are the new ones.
func TestKeptAnswersEndWhenTheIndexKnowsBetter(t *testing.T) {
	t.Parallel()
	front := startFront(t)
	var world worldJSON
	get(t, front.world.URL()+"/sandbox/world", &world)
	locked := front.url + "/api/Satistics/" + world.Takers[0].Address + "/lockedAssets"
	var asked int
	for range 3 {
		beforeCreation := front.indexed(t, "1", asked)
		asked++
		created, _ := answered(t, http.MethodPost, front.world.URL()+"/sandbox/create",
			`{"chainId":1,"takeChainId":137,"giveToken":"USDC","giveAmount":"100","takeToken":"DAI","takeAmount":"99.5"}`)
		id := regexp.MustCompile(`"orderId":\s*"(0x[0-9a-f]{64})"`).FindStringSubmatch(created)[1]
		tx := regexp.MustCompile(`"creationTxHash":\s*"(0x[0-9a-f]{64})"`).FindStringSubmatch(created)[1]
		byTx := front.url + "/api/Orders/creationTxHash/" + tx
		before := front.indexed(t, "137", asked)
		asked++
		answered(t, http.MethodPost, front.world.URL()+"/sandbox/fulfil", fmt.Sprintf(`{"orderId":%q}`, id))
		const patience = time.Minute
		for deadline := time.Now().Add(patience); ; {
			answered(t, http.MethodGet, byTx, "")
			answered(t, http.MethodGet, locked, "")
			// A delivery counts when the creation is known, which another follower reads.
			now, nowGive := front.indexed(t, "137", asked), front.indexed(t, "1", asked+1)
			asked += 2
			if now > before && nowGive > beforeCreation {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("after %v still at blocks %d and %d", patience, nowGive, now)
			}
		}
		if got, header := answered(t, http.MethodGet, byTx, ""); !strings.Contains(got, `"Fulfilled"`) {
			t.Errorf("the index knows of the delivery, the answer does not: %v %.900s", header, got)
		}
		if got, header := answered(t, http.MethodGet, locked, ""); !strings.Contains(got, id) {
			t.Errorf("the index knows of the delivery, what is locked does not have %s: %v %.900s", id, header, got)
		}
	}
}
