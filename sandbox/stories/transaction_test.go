package stories_test

import (
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// pageText is a page of a gateway without its tags, on one line.
func pageText(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s = %d, %v", url, response.StatusCode, err)
	}
	return html.UnescapeString(strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(page), " ")), " "))
}

// TestPagesSayWhatTransactionsCalled looks at orders of every family that went all the way.
func TestPagesSayWhatTransactionsCalled(t *testing.T) {
	front := readingFront(t)
	var world worldJSON
	get(t, front.world.URL()+"/sandbox/world", &world)
	seen := map[string]int{}
	for _, o := range world.Orders {
		if o.State != "ClaimedUnlock" {
			continue
		}
		for part, wants := range map[string][]string{
			"from Solana": {"dln_src: create_order", "give_order_state"},
			"to Solana":   {"dln_dst: fulfill_order", "take_order_state"},
			"from TRON":   {"DlnSource: create", "Energy used", "Fee paid not told whole by the chain"},
			"":            {"What the transactions called", "Told by 1 endpoint:", "Fee paid"},
		} {
			if !strings.Contains(o.Title, part) || seen[part] > 0 {
				continue
			}
			seen[part]++
			page := pageText(t, front.url+"/order/"+o.CreationTxHash)
			for _, want := range wants {
				if !strings.Contains(page, want) {
					t.Errorf("%s: the page lacks %q: %s", o.Title, want, page)
				}
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("the world has orders of these kinds alone: %v", seen)
	}
}
