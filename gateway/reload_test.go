package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/store"
)

// live are the keys that a reload applies: those of limits by Server.SetLimits (TestLimitsAreReloaded), those of the
// log as in TestLogIsReloaded of processes, and all others by the parts built from them.
var live = []string{
	"chains", "venues", "prices", "tokens", "events.webhooks", "limits", "telemetry.level", "telemetry.clients", "swap.execution", "swap.unsimulated", "swap.fee", "swap.takerCosts",
	"passthrough.hosts", "passthrough.shadow",
}

// TestEveryKeyIsReloadedOrNamed changes one configuration key after another while a gateway runs.
func TestEveryKeyIsReloadedOrNamed(t *testing.T) {
	text := must.Get(os.ReadFile("../deploy/crossgate.yaml"))(t)
	path := t.TempDir() + "/orders.db"
	load := func() config.Config {
		c := parsed(t, string(text))
		c.Index.Path = path
		c.Chains = append(c.Chains[:1:1], c.Chains[len(c.Chains)-1])
		c.Venues = c.Venues[:1]
		c.Passthrough.Hosts = []config.Host{{
			Name: "orders", Paths: map[string]string{"/": "cache"},
			Endpoints: []config.Endpoint{{Name: "origin", URL: config.NewSecret("http://origin.invalid")}},
		}}
		c.Passthrough.Shadow.Paths = map[string]string{"/api/": "orders"}
		c.Events.Webhooks = []config.Webhook{{
			Name: "shop", URL: config.NewSecret("https://shop.invalid/"), Secrets: []config.Secret{config.NewSecret("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")},
		}}
		c.Limits.Keys = []config.Key{{Name: "wallet", Key: config.NewSecret("0123456789abcdef"), Quota: c.Limits.Address}}
		return c
	}
	var log bytes.Buffer
	g := must.Get(New(t.Context(), load(), slog.New(slog.NewTextHandler(&log, nil))))(t)
	t.Cleanup(func() { _ = g.Close() })
	first := load()
	keys := keysOf("", reflect.ValueOf(first))
	if len(keys) < 80 {
		t.Errorf("%d keys, want those of the whole configuration", len(keys))
	}
	for _, key := range keys {
		c := load()
		change(t, find(reflect.ValueOf(&c).Elem(), key))
		log.Reset()
		err := g.Reload(c)
		switch said := log.String(); {
		case err != nil:
			var mistakes config.Mistakes
			if !strings.Contains(err.Error(), "reload: the changed facts of chain ") && !errors.As(err, &mistakes) {
				t.Errorf("%s: %v, want that it needs a restart, or what is wrong", key, err)
			}
		case strings.Contains(said, "need a restart"):
			if named := fmt.Sprintf("keys=%s\n", key); !strings.Contains(said, named) {
				t.Errorf("%s: the log names other keys: %s", key, said)
			}
		case !isLive(key):
			t.Errorf("%s is neither applied nor named: name it in keepStarted, or apply it and list it in this test", key)
		default:
			used := g.sets.now()
			want, got := find(reflect.ValueOf(&c).Elem(), key), find(reflect.ValueOf(&used.config).Elem(), key)
			if !reflect.DeepEqual(want.Interface(), got.Interface()) {
				t.Errorf("%s: the new parts are made with %v, want %v", key, got, want)
			}
		}
	}
	log.Reset()
	if err := g.Reload(load()); err != nil || log.Len() > 0 {
		t.Errorf("Reload of the first configuration: %v, %s", err, log.String())
	}
	broken := load()
	broken.TLS = config.TLS{CertFile: "absent.pem", KeyFile: "absent.key"}
	if err := g.Reload(broken); !errors.As(err, new(config.Mistakes)) || log.Len() > 0 {
		t.Errorf("Reload of a configuration that no gateway could start with: %v, %s", err, log.String())
	}
}

func isLive(key string) bool {
	return slices.ContainsFunc(live, func(each string) bool { return key == each || strings.HasPrefix(key, each+".") })
}

// keysOf returns the keys of a value that have values of their own; the first element represents a list.
func keysOf(name string, v reflect.Value) (keys []string) {
	for v.Kind() == reflect.Slice && v.Len() > 0 && v.Index(0).Kind() == reflect.Struct || v.Kind() == reflect.Pointer && !v.IsNil() {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		} else {
			v = v.Index(0)
		}
	}
	if v.Kind() != reflect.Struct {
		return []string{name}
	}
	for field, value := range v.Fields() {
		if key := field.Tag.Get("yaml"); key != "" {
			keys = append(keys, keysOf(strings.TrimPrefix(name+"."+key, "."), value)...)
		}
	}
	if len(keys) == 0 {
		return []string{name} // a type with a text
	}
	return keys
}

// find returns the value of a key.
func find(v reflect.Value, key string) reflect.Value {
	for name := range strings.SplitSeq(key, ".") {
		for v.Kind() == reflect.Slice || v.Kind() == reflect.Pointer {
			if v.Kind() == reflect.Pointer {
				v = v.Elem()
			} else {
				v = v.Index(0)
			}
		}
		for field, value := range v.Fields() {
			if field.Tag.Get("yaml") == name {
				v = value
				break
			}
		}
	}
	return v
}

// change sets a key to another value of its type.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch was := v.Interface().(type) {
	case config.Secret:
		v.Set(reflect.ValueOf(config.NewSecret(was.Reveal() + "x")))
		return
	case config.Execution:
		v.Set(reflect.ValueOf(map[bool]config.Execution{true: config.ExecuteBest, false: config.ExecuteDirectly}[was == config.ExecuteDirectly]))
		return
	case chain.Address:
		v.Set(reflect.ValueOf(chain.NewAddress(bytes.Repeat([]byte{7}, 20))))
		return
	case netip.Prefix:
		v.Set(reflect.ValueOf(netip.MustParsePrefix("192.0.2.0/24")))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() / 2)
	case reflect.Array:
		v.Index(0).SetUint(v.Index(0).Uint() + 1)
	case reflect.Slice:
		added := reflect.New(v.Type().Elem()).Elem()
		change(t, added)
		v.Set(reflect.Append(v.Slice3(0, v.Len(), v.Len()), added))
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		change(t, element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("eth_call"), element)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	default:
		t.Fatalf("no other value of type %s", v.Type())
	}
}

// TestAListIsReadAgainByAnotherConfiguration reloads another URL of a list, then the file without it and with it again.
func TestAListIsReadAgainByAnotherConfiguration(t *testing.T) {
	var read []string // paths
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read = append(read, r.URL.Path)
		_, _ = w.Write([]byte(`{"tokens":[]}`))
	}))
	t.Cleanup(server.Close)
	c := plannedConfig(t)
	c.Tokens.Refresh = time.Hour
	g := newGateway(t, c)
	t.Cleanup(func() { _ = g.Close() })
	for _, path := range []string{"/old", "/new", "", "/new"} {
		c.Tokens.Lists = nil
		if path != "" {
			c.Tokens.Lists = []config.TokenList{{Name: "list", Endpoints: []config.Endpoint{{Name: "list", URL: config.NewSecret(server.URL + path)}}}}
		}
		must.Do(t, g.Reload(c))
		g.lists.update(t.Context())
		g.lists.update(t.Context())
	}
	if want := []string{"/old", "/new", "/new"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
}

// TestLimitsAreReloaded sends requests as clients whose quotas, keys and proxies change, while the database is away.
func TestLimitsAreReloaded(t *testing.T) {
	const key = "0123456789abcdef"
	c := plannedConfig(t)
	daily := func(units int) config.Quota { return config.Quota{Units: units, Window: 24 * time.Hour} } // no refill before the end
	c.Limits = config.Limits{}
	g := newGateway(t, c)
	t.Cleanup(func() { _ = g.Close() })
	must.Do(t, g.store.Close())
	policy := func() string {
		r := httptest.NewRequest(http.MethodGet, "/v1.0/supported-chains-info", http.NoBody)
		r.RemoteAddr = "192.0.2.1:1000"
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("X-Forwarded-For", "198.51.100.7")
		answer := httptest.NewRecorder()
		g.server.Handler().ServeHTTP(answer, r)
		left, _, _ := strings.Cut(answer.Header().Get("RateLimit"), ";t=") // seconds, some of which may have passed
		return answer.Header().Get("RateLimit-Policy") + " " + left
	}
	keys := func(list ...config.Key) []config.Key { return list }
	wallet := config.Key{Name: "wallet", Key: config.NewSecret(key), Quota: daily(100)}
	other := config.Key{Name: "other", Key: config.NewSecret(key + "!"), Quota: daily(50)}
	for i, step := range []struct {
		limits config.Limits
		want   string
	}{
		{config.Limits{}, " "},
		{config.Limits{Address: daily(20), Keys: keys(wallet)}, `"wallet";q=100;w=86400 "wallet";r=99`},
		{config.Limits{Address: daily(20), Keys: keys(other, wallet)}, `"wallet";q=100;w=86400 "wallet";r=98`},
		{config.Limits{Address: daily(20), Keys: keys(other)}, `"address";q=20;w=86400 "address";r=19`}, // revoked
		{config.Limits{Address: daily(30), Keys: keys(other)}, `"address";q=30;w=86400 "address";r=27`},
		{config.Limits{Address: daily(20), Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}, `"address";q=20;w=86400 "address";r=19`},
		{config.Limits{}, " "},
	} {
		c.Limits = step.limits
		must.Do(t, g.Reload(c))
		if got := policy(); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
}

// TestAReloadBeforeTheRun replaces the first configuration of a gateway that does not run yet, first while its database
// takes no changes: those would be needed for a webhook.
func TestAReloadBeforeTheRun(t *testing.T) {
	c := plannedConfig(t)
	g := newGateway(t, c)
	first := g.sets.now()
	refuse := func(tx *store.Tx) error {
		_, err := tx.ExecContext(t.Context(), `CREATE TRIGGER refuses BEFORE INSERT ON webhooks BEGIN SELECT RAISE(ABORT, 'full'); END`)
		return err
	}
	must.Do(t, g.store.Update(t.Context(), refuse))
	c.Events.Webhooks = []config.Webhook{{Name: "shop", URL: config.NewSecret("https://shop.invalid/")}}
	if err := g.Reload(c); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Reload = %v, want that it is tried again when the database is back", err)
	}
	c.Events.Webhooks = nil
	c.Chains = slices.Clone(c.Chains)
	c.Chains[0].Endpoints = slices.Clone(c.Chains[0].Endpoints)
	c.Chains[0].Endpoints[0].Timeout += time.Second
	must.Do(t, g.Reload(c))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	must.Do(t, g.Run(ctx, must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)))
	if left := first.parts.endpoints[0].holders.Load(); left != 0 {
		t.Errorf("%d sets hold an endpoint of the first one", left)
	}
}
