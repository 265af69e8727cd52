package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
	"crossgate/quote"
	"crossgate/token"
)

// sixDecimals are contracts that return only their decimals, six.
type sixDecimals struct{}

func (sixDecimals) ReadTokens(_ context.Context, addresses []chain.Address) ([]token.Reading, error) {
	decimals := uint8(6)
	readings := make([]token.Reading, len(addresses))
	for i := range readings {
		readings[i].Decimals = &decimals
	}
	return readings, nil
}

// TestTokensAreStoredBeforeTheDatabaseIsClosed ends a gateway whose client has its answer while metadata of the
// answer's token is still being stored. The database closes after parts.
func TestTokensAreStoredBeforeTheDatabaseIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, stored := make(chan struct{}), 0
		p := &parts{tokens: token.NewDirectory(token.DirectoryOptions{
			Registry: chain.Documented(),
			Readers:  map[chain.ID]token.Reader{chain.Ethereum: sixDecimals{}},
			Remember: func(_ context.Context, readings map[token.Key]token.Reading) { <-store; stored += len(readings) },
		})}
		must.Get(p.tokens.Lookup(t.Context(), chain.Ethereum, chain.NewAddress([]byte{19: 1})))(t)
		s, closed := &set{parts: p, estimator: quote.New(quote.Options{})}, false
		go func() {
			s.close()
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("closed while tokens are being stored")
		}
		close(store)
		synctest.Wait()
		if !closed || stored == 0 {
			t.Errorf("closed: %v; %d tokens were stored, want some", closed, stored)
		}
	})
}

// TestTracesOfFollowersObeyTheShare begins traces as followers, requests and their subrequests do.
func TestTracesOfFollowersObeyTheShare(t *testing.T) {
	for share, want := range map[float64]int{0: 1 * 2, 1: 2 * 2} {
		recorder := tracetest.NewSpanRecorder()
		tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder), sdk.WithSampler(sampler(share))).Tracer("test")
		for _, kind := range []trace.SpanKind{trace.SpanKindInternal, trace.SpanKindServer} {
			ctx, root := tracer.Start(t.Context(), "root", trace.WithSpanKind(kind))
			within, child := tracer.Start(ctx, "child")
			if !trace.SpanContextFromContext(within).IsValid() {
				t.Errorf("share %v: what is below a %s could begin a trace", share, kind)
			}
			child.End()
			root.End()
		}
		if got := len(recorder.Ended()); got != want {
			t.Errorf("share %v: %d spans, want %d", share, got, want)
		}
	}
}

// TestTelemetryThatIsSetWronglyTellsNoKeys proves that errors about invalid addresses and headers quote no keys.
func TestTelemetryThatIsSetWronglyTellsNoKeys(t *testing.T) {
	const canary = "canary77c1"
	errors := otel.GetErrorHandler()
	t.Cleanup(func() { otel.SetErrorHandler(errors) })
	for _, address := range []string{
		"http://" + canary + ":" + canary + "-2@collector.example:not-a-port/" + canary + "-3",
		"https://" + canary + ".collector.example/%zz?" + canary,
		"http://127.0.0.1:9/" + canary,
		canary + ".example:4317",
	} {
		var log strings.Builder
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
		t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
		t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization Bearer "+canary+"-4,X-Key=%zz"+canary+"-5,X-Other=Bearer%20"+canary+"-6")
		logErrors(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		made, err := newExporter(t.Context())
		if err == nil {
			err = made.Shutdown(t.Context())
		}
		said := fmt.Sprint(log.String(), err)
		if !strings.Contains(said, "parse headers") {
			t.Errorf("%s: the log is %q: the test looks at nothing", address, said)
		}
		if at := strings.Index(said, canary); at >= 0 {
			t.Errorf("%s: a key is told: …%s", address, said[max(at-200, 0):])
		}
	}
}

const withShared = "chains: [{id: 1, endpoints: [{url: 'http://127.0.0.1:1'}]}]\ncache: {shared: %q, sharedCAFile: %q}\n"

// TestSharedCacheOverTLSByConfiguration connects to a server with a password and a private certificate authority.
func TestSharedCacheOverTLSByConfiguration(t *testing.T) {
	servers := redistest.NewAuthority(t)
	const user, password = "crossgate", "0123456789"
	server := redistest.ServeGuarded(t, redistest.Guarded{
		Own: servers.Issue(t, "127.0.0.1"), User: user, Password: password,
	})
	address := fmt.Sprintf("rediss://%s:%s@127.0.0.1:%d/0", user, password, server.Port())
	made := built(t, parsed(t, fmt.Sprintf(withShared, address, servers.File)), nil)
	defer made.close()
	connect(t, made.shared)
}

func TestAbsentCertificatesAreMistakes(t *testing.T) {
	err := Check(parsed(t, fmt.Sprintf(withShared, "rediss://:secret@127.0.0.1/0", "/absent/canary.pem")))
	const want = "cache.shared: line 2: shared cache: certificate of the authority: no such file or directory"
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
		t.Errorf("Check = %v, want %s", err, want)
	}
}
