package proxy_test

import (
	"testing"
	"testing/synctest"
	"time"

	"crossgate/order"
	"crossgate/proxy"
)

// TestAnswersFromTheIndexTellHowFreshTheyAre asks every path that the index answers, and one that it does not.
func TestAnswersFromTheIndexTellHowFreshTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.basis = []order.ChainBasis{
			followed(1, order.Lag{}),
			followed(137, order.Lag{Head: 9, Indexed: 8, IndexedTime: 946_600_000, Level: time.Now().Add(-time.Hour)}),
			followed(8453, order.Lag{Head: 9, Indexed: 9, IndexedTime: 946_600_000, Level: time.Now()}),
		}
		s := w.server(t)
		const both = "137;block=8;time=946600000;lag=3600;from=0;behind, 8453;block=9;time=946600000;lag=0;from=0"
		const every = "1;block=0;behind, " + both
		for path, want := range map[string]string{
			"/api/Satistics/" + taker + "/lockedAssets":    every,
			"/api/Orders/creationTxHash/" + severalTx:      both,
			"/api/Orders/creationTxHash/" + unknownIs:      every,
			"/api/Orders/" + idText(11):                    both,
			"/api/Orders/" + idText(99):                    every,
			"/v1.0/dln/order/" + idText(11) + "/status":    both,
			"/v1.0/dln/order/" + idText(99) + "/status":    every,
			"/api/Transaction/" + severalTx + "/orderIds":  both,
			"/api/Transaction/" + unknownIs + "/orderIds":  every,
			"/v1.0/dln/tx/" + severalTx + "/order-ids":     both,
			"/v1.0/chain/transaction?chainId=" + "nothing": "",
		} {
			for range 2 { // loaded, then kept
				response := get(s, path)
				if got := response.Header.Get(proxy.IndexBasis); got != want {
					t.Errorf("GET %s: HTTP %d, basis %q, want %q", path, response.StatusCode, got, want)
				}
			}
		}
	})
}
