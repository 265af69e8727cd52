package cache

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"crossgate/cache/shared"
	"crossgate/internal/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// texts is a codec that shares every text.
var texts = Codec[string]{
	Encode: func(text string) []byte { return []byte(text) },
	Decode: func(text []byte, _ Life, _ time.Duration) (string, error) { return string(text), nil },
}

// replica is a cache with a shared level.
type replica struct {
	*Cache[string]
	shared *shared.Cache
	url    string
	stop   func()
}

// startReplica runs a replica on the server at url until the test ends. Its timeouts are long, since the machine may be
// busy.
func startReplica(t *testing.T, url string, change ...func(*Options[string], *shared.Options)) *replica {
	t.Helper()
	on := shared.Options{URL: url, Timeout: 20 * time.Second, Silence: time.Minute}
	o := Options[string]{Codec: texts, Tags: tagged}
	for _, c := range change {
		c(&o, &on)
	}
	behind := must.Get(shared.New(on))(t)
	o.Shared = behind
	r := &replica{shared: behind, url: url}
	r.Cache = must.Get(New(o))(t)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { behind.Run(ctx) })
	r.stop = sync.OnceFunc(func() {
		r.Close()
		cancel()
		running.Wait()
	})
	t.Cleanup(r.stop)
	return r
}

func (r *replica) connected(t *testing.T) *replica {
	t.Helper()
	must.Await(t, "a connection", r.isConnected)
	return r
}

func (r *replica) isConnected() bool {
	state, _ := r.shared.Status()
	return !strings.HasPrefix(state, "not connected")
}

// startReplicas runs two replicas on one server.
func startReplicas(t *testing.T, url string) (a, b *replica) {
	t.Helper()
	return startReplica(t, url).connected(t), startReplica(t, url).connected(t)
}

// ask returns a replica's result for the key "key".
func (r *replica) ask(t *testing.T, load Load[string]) Result[string] {
	t.Helper()
	got := must.Get(r.GetShared(t.Context(), named("key"), load))(t)
	r.settle()
	return got
}

// settle waits until loaded values are stored, here and on the server.
func (r *replica) settle() { r.running.Wait() }

// unloaded returns a load that fails the test.
func unloaded(t *testing.T) Load[string] {
	return func(context.Context) (string, Life, error) {
		t.Error("loaded, want the value of the other replica")
		return "wrong", Life{}, nil
	}
}

// constant returns a load of one text.
func constant(text string, life Life) Load[string] {
	return func(context.Context) (string, Life, error) { return text, life, nil }
}

func describe(r Result[string]) string {
	return fmt.Sprintf("%s, %v, remote %v, failure %v", r.Value, r.Outcome, r.Remote, r.Failure)
}

func wantResult(t *testing.T, who string, got Result[string], value string, outcome Outcome, remote bool) {
	t.Helper()
	if got.Value != value || got.Outcome != outcome || got.Remote != remote {
		t.Errorf("%s: %s, want %s, %v, remote %v", who, describe(got), value, outcome, remote)
	}
}
