package shared

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// startPipeline connects to the test's server.
func startPipeline(t *testing.T, server *redistest.Server) *pipeline {
	t.Helper()
	at := must.Get(parseURL(server.URL()))(t)
	p := newPipeline(must.Get(at.dial(t.Context(), time.Minute))(t))
	t.Cleanup(p.close)
	return p
}

// TestRepliesReachWhoAsked sends many commands concurrently, and does not wait for every third reply.
func TestRepliesReachWhoAsked(t *testing.T) {
	p := startPipeline(t, redistest.Serve(t))
	gone, leave := context.WithCancel(t.Context())
	leave()
	var asking sync.WaitGroup
	for i := range 3000 {
		asking.Go(func() {
			text := strconv.Itoa(i)
			if i%3 == 0 {
				if _, err := p.do(gone, "ECHO", text); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
			if i%3 == 1 {
				text = strings.Repeat(text, 10_000) // takes many writes
			}
			if got, err := redis.String(p.do(t.Context(), "ECHO", text)); err != nil || got != text {
				t.Errorf("ECHO %.20s = %.20s, %v", text, got, err)
			}
		})
	}
	asking.Wait()
}

// TestRefusalsEndNothing lets the server refuse one of several commands.
func TestRefusalsEndNothing(t *testing.T) {
	p := startPipeline(t, redistest.Serve(t))
	var refused redis.Error
	if _, err := p.do(t.Context(), "NONSENSE"); !errors.As(err, &refused) {
		t.Errorf("NONSENSE: %v, want the server's refusal", err)
	}
	if got, err := redis.String(p.do(t.Context(), "PING")); got != "PONG" {
		t.Errorf("PING = %q, %v", got, err)
	}
}

// TestScriptsThatTheServerForgotAreSentAgain uses a server that flushes its scripts, as a restart does.
func TestScriptsThatTheServerForgotAreSentAgain(t *testing.T) {
	p := startPipeline(t, redistest.Serve(t))
	doubles := newScript("doubles", "return {tonumber(ARGV[1]) + tonumber(KEYS[1])}")
	for range 2 {
		must.Get(p.do(t.Context(), "SCRIPT", "FLUSH"))(t)
		for range 2 {
			got, err := p.runs(t.Context(), doubles, []string{"20"}, "22")
			if err != nil || len(got) != 1 || got[0] != int64(42) {
				t.Errorf("the script returned %v, %v, want 42", got, err)
			}
		}
	}
}

// TestAServerThatHangsKeepsNobody sends more commands to a paused server than may wait for replies.
func TestAServerThatHangsKeepsNobody(t *testing.T) {
	server := redistest.Serve(t)
	p := startPipeline(t, server)
	must.Do(t, server.Pause())
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for range 2 * mostUnanswered {
		asking.Go(func() {
			if _, err := p.do(ctx, "PING"); !errors.Is(err, context.Canceled) {
				t.Errorf("PING: %v, want that the caller left", err)
			}
		})
	}
	// The writer continues until it is stopped, or until the socket's buffer is full: with Linux's defaults that takes
	// about 280 small writes, however many commands each of them holds.
	const written = 200
	for len(p.unanswered) < written {
		<-time.After(time.Millisecond)
	}
	cancel()
	asking.Wait()
	must.Do(t, server.Continue())
	if got, err := redis.String(p.do(t.Context(), "PING")); got != "PONG" {
		t.Errorf("PING once the server goes on = %q, %v", got, err)
	}
	must.Do(t, server.Kill())
	if _, err := p.do(t.Context(), "PING"); err == nil {
		t.Error("a call to a server that has ended had a reply")
	}
}

func TestAddressesAreRead(t *testing.T) {
	for text, want := range map[string]server{
		"redis://cache":                                {network: "tcp", address: "cache:6379"},
		"redis://:secret@cache:1/2":                    {network: "tcp", address: "cache:1", password: "secret", database: 2},
		"redis://gateway:p%40ss%2Fword@[::1]:6380":     {network: "tcp", address: "[::1]:6380", user: "gateway", password: "p@ss/word"},
		"unix:///run/valkey.sock":                      {network: "unix", address: "/run/valkey.sock"},
		"unix://gateway:secret@/run/valkey.sock?db=10": {network: "unix", address: "/run/valkey.sock", user: "gateway", password: "secret", database: 10},
	} {
		if got, err := parseURL(text); err != nil || got != want {
			t.Errorf("parseURL(%s) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	got, err := parseURL("rediss://cache.example.com/1")
	if err != nil || got.tls == nil || got.tls.ServerName != "cache.example.com" || got.tls.InsecureSkipVerify || got.database != 1 {
		t.Errorf("parseURL of rediss = %+v, %v, want TLS for the host", got, err)
	}
	for _, text := range []string{"", "redis://h/x", "redis://h/-1", "redis://h/0?skip_verify=true", "rediss://h#x", "unix://", "http://h"} {
		if _, err := parseURL(text); err == nil {
			t.Errorf("parseURL(%s): %v, want an error", text, err)
		}
	}
}
