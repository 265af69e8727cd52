package orders

import (
	"testing"

	"crossgate/proxy"
)

// Addresses in these tests.
const (
	taker      = "0xd1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1"
	nobody     = "0xd2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2"
	solanaText = "29d2S7vB453rNYFdR5Ycwt7y9haRT5fwVwL9zTmBhfV2"
)

func FuzzListBody(f *testing.F) {
	for _, body := range []string{
		`{}`, `null`, `{"take":1e3}`, `{"skip":"5","Take":100,"filter":"` + taker + `"}`, `{"giveChainIds":[1,"137"],"orderStates":"Created"}`,
		`{"unlockAuthorities":["` + taker + `","` + nobody + ` ` + solanaText + `"],"referralCode":"1"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := ParseMembers(body)
		if err != nil {
			return
		}
		for _, parse := range []func(*Members) (Part, error){ParseOrderList, parseUnlockList} {
			m.Wrong = nil
			q, err := parse(m)
			if err != nil {
				continue
			}
			if q.Take == 0 || q.Take > mostListed {
				t.Errorf("%s: takes %d", body, q.Take)
			}
			m.Wrong = nil
			if again, err := parse(m); err != nil || proxy.KeyOf("", again) != proxy.KeyOf("", q) {
				t.Errorf("%s is understood in two ways", body)
			}
		}
	})
}
