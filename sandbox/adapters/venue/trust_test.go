package venue_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"crossgate/upstream"
)

// liar changes the answers of a handler, and remembers whether it had to.
type liar struct {
	http.Handler
	truth, lie string
	lied       bool
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recorder := httptest.NewRecorder()
	l.Handler.ServeHTTP(recorder, r)
	body := strings.ReplaceAll(recorder.Body.String(), l.truth, l.lie)
	l.lied = l.lied || body != recorder.Body.String()
	w.WriteHeader(recorder.Code)
	_, _ = w.Write([]byte(body))
}

// TestEveryVenueIsHeldToItsWord changes one thing in all that a venue answers. Each venue spells routers and
// values in one of several ways; what it does not spell so cannot be changed.
func TestEveryVenueIsHeldToItsWord(t *testing.T) {
	each(t, func(t *testing.T, name string) {
		s := swapBy(t, name, coinText, usdcText, 1)
		kinds := map[string][][2]string{
			"other value": {{`"1000000000000000000"`, `"1000000000000000001"`}, {`"0xde0b6b3a7640000"`, `"0xde0b6b3a7640001"`}},
			"no calldata": {{`"data":"0x`, `"data":"`}},
			"not JSON":    {{`{`, `<`}},
		}
		if isOnSolana(name) { // where the router stands in the message, which package quote reads
			kinds = map[string][][2]string{
				"other value": {{`"1000000000"`, `"1000000001"`}},
				"no calldata": {{`"transaction":"`, `"transaction":"?`}, {`"data":"`, `"data":"?`}},
				"other token": {{onSolana[usdcText], onSolana[lonelyText]}},
				"not JSON":    {{`{`, `<`}},
			}
		}
		p := open(t, name, http.NotFoundHandler(), nil).Profile()
		for _, router := range append(p.MoreRouters[s.Chain.ID], p.Routers[s.Chain.ID]) {
			if isOnSolana(name) {
				break
			}
			kinds["foreign router"] = append(kinds["foreign router"], [2]string{router.String(), affiliate}, [2]string{router.Checksum(), affiliate})
		}
		for kind, spellings := range kinds {
			told := 0
			for _, words := range spellings {
				l := &liar{Handler: newHall().handler(name), truth: words[0], lie: words[1]}
				v := open(t, name, l, nil)
				q, err := v.Quote(t.Context(), s)
				if err == nil {
					_, err = v.Build(t.Context(), s, q)
				}
				if !l.lied {
					continue
				}
				told++
				var failed *upstream.Error
				if !errors.As(err, &failed) || failed.Class != upstream.BadAnswer {
					t.Errorf("%s: %v, want a bad answer", kind, err)
				}
			}
			if told == 0 {
				t.Errorf("%s: the venue could not be made to lie", kind)
			}
		}
	})
}
