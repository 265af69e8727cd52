package venue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/venue"
)

// TestFixtures plays testdata/<venue>.txtar: each case holds the swap, the venue's expected requests, the answers of
// its API (the status in the first line), and the expected result.
func TestFixtures(t *testing.T) {
	eachService(t, func(t *testing.T, s venue.Service) {
		name := s.Name
		path := filepath.Join("testdata", name+".txtar")
		archive := must.Get(txtar.ParseFile(path))(t)
		f := fixture{archive: archive}
		for _, c := range f.cases(t) {
			t.Run(c, func(t *testing.T) { f.play(t, name, c) })
		}
		if golden.IsUpdated() {
			must.Do(t, os.WriteFile(path, txtar.Format(archive), 0o644))
		}
	})
}

type fixture struct{ archive *txtar.Archive }

// cases lists the folders of the archive.
func (f fixture) cases(t *testing.T) []string {
	known := []string{"swap", "quote.ask", "quote.answer", "quote", "build.ask", "build.answer", "build"}
	var cases []string
	for _, file := range f.archive.Files {
		folder, name, _ := strings.Cut(file.Name, "/")
		if !slices.Contains(known, name) {
			t.Fatalf("%s: want a case and one of %v", file.Name, known)
		}
		if !slices.Contains(cases, folder) {
			cases = append(cases, folder)
		}
	}
	return cases
}

func (f fixture) play(t *testing.T, name, folder string) {
	s, o := f.swap(t, folder)
	stage := "quote"
	v := open(t, name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.compare(t, folder+"/"+stage+".ask", transcript(t, r))
		status, body, _ := strings.Cut(f.text(folder+"/"+stage+".answer"), "\n")
		code, err := strconv.Atoi(status)
		if err != nil {
			t.Errorf("%s/%s.answer begins with %q, want a status", folder, stage, status)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}), o)

	q, err := v.Quote(t.Context(), s)
	f.compare(t, folder+"/quote", concluded(err, func() string {
		return fmt.Sprintf("out %s\ngas %d\nexpires in %s\n", q.AmountOut, q.Gas, q.Expires.Sub(noon))
	}))
	if err != nil || !f.has(folder+"/build.answer") {
		return
	}
	stage = "build"
	tx, err := v.Build(t.Context(), s, q)
	f.compare(t, folder+"/build", concluded(err, func() string {
		return fmt.Sprintf("to %s\nvalue %s\ndata 0x%x\n", tx.To.Format(s.Chain.Family), tx.Value, tx.Data)
	}))
}

// swap reads the case's swap and the venue's options: a word and its values on each line.
func (f fixture) swap(t *testing.T, folder string) (s quote.Swap, o venue.Options) {
	s.Sender, s.Recipient = address(t, sender), address(t, recipient)
	for line := range strings.Lines(f.text(folder + "/swap")) {
		word := strings.Fields(line)
		var err error
		switch word[0] {
		case "chain":
			var id chain.ID
			id, err = chain.ParseID(word[1])
			s.Chain, _ = chain.Documented().Chain(id)
		case "sender":
			s.Sender, err = chain.ParseAddress(word[1], s.Chain.Family)
		case "recipient":
			s.Recipient, err = chain.ParseAddress(word[1], s.Chain.Family)
		case "in":
			s.In = quote.Side{Address: addressOn(t, s.Chain.Family, word[1]), Token: token.Token{Decimals: places(word[2])}}
			s.In.Amount, err = chain.ParseAmount(word[3])
		case "out":
			s.Out = quote.Side{Address: addressOn(t, s.Chain.Family, word[1]), Token: token.Token{Decimals: places(word[2])}}
		case "slippage":
			s.SlippagePercent, err = decimal.NewFromString(word[1])
		case "gas-price":
			s.GasPrice, err = chain.ParseAmount(word[1])
		case "affiliate":
			s.Affiliate.Recipient = address(t, word[2])
			s.Affiliate.Percent, err = decimal.NewFromString(word[1])
		case "priority":
			s.Priority = map[string]quote.Priority{"normal": quote.Normal, "aggressive": quote.Aggressive}[word[1]]
		case "setting":
			o.Settings = map[string]string{word[1]: strings.Join(word[2:], " ")}
		case "newest": // how far the chain's newest block is ahead of the clock
			var ahead time.Duration
			ahead, err = time.ParseDuration(word[1])
			o.Newest = func(chain.ID) time.Time { return noon.Add(ahead) }
		default:
			err = errors.New("unknown word")
		}
		if err != nil {
			t.Fatalf("%s/swap: %s: %v", folder, line, err)
		}
	}
	return s, o
}

func places(text string) uint8 {
	n, _ := strconv.ParseUint(text, 10, 8)
	return uint8(n)
}

// concluded returns the outcome of a call: its result, or the kind and text of its error.
func concluded(err error, result func() string) string {
	var failed *upstream.Error
	switch {
	case err == nil:
		return result()
	case errors.Is(err, quote.ErrNoRoute):
		return fmt.Sprintf("no route\n%s\n", err)
	case errors.Is(err, venue.ErrPriceMoved):
		return fmt.Sprintf("price moved\n%s\n", err)
	case errors.As(err, &failed):
		return fmt.Sprintf("%s\n%s\n", failed.Class, err)
	}
	return fmt.Sprintf("error\n%s\n", err)
}

// transcript writes a request with its query in alphabetical order and its JSON indented.
func transcript(t *testing.T, r *http.Request) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s\n", r.Method, r.URL.Path)
	query := r.URL.Query()
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&text, "  %s=%s\n", name, query.Get(name))
	}
	for _, name := range []string{"X-Client-Id", "X-Api-Key", "X-Lifi-Api-Key", "Apikey", "Authorization", "0x-Api-Key", "0x-Version", "Ok-Access-Key", "Ok-Access-Timestamp", "Ok-Access-Sign"} {
		if value := r.Header.Get(name); value != "" {
			fmt.Fprintf(&text, "%s: %s\n", name, value)
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	if len(body) > 0 {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			t.Errorf("body %s: %v", body, err)
		}
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(members); err != nil {
			t.Error(err)
		}
	}
	return text.String()
}

func (f fixture) has(name string) bool { return f.index(name) >= 0 }

func (f fixture) index(name string) int {
	return slices.IndexFunc(f.archive.Files, func(file txtar.File) bool { return file.Name == name })
}

func (f fixture) text(name string) string {
	if i := f.index(name); i >= 0 {
		return string(f.archive.Files[i].Data)
	}
	return ""
}

// compare compares got with the file name; a case checks only what it has a file for.
func (f fixture) compare(t *testing.T, name, got string) {
	t.Helper()
	i := f.index(name)
	if i < 0 {
		return
	}
	file := &f.archive.Files[i]
	if golden.IsUpdated() {
		file.Data = []byte(got)
	}
	golden.Same(t, name, string(file.Data), got)
}
