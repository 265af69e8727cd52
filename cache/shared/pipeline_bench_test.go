package shared

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"crossgate/internal/redistest"
)

// BenchmarkHits has 64 callers read a value of the size of an order: by the pipeline, and by plain connections of which
// each has one caller at a time, as many as there are callers.
func BenchmarkHits(b *testing.B) {
	const callers, size = 64, 2 << 10
	server := redistest.Serve(b)
	at, err := parseURL(server.URL())
	if err != nil {
		b.Fatal(err)
	}
	connect := func() redis.Conn {
		connection, err := at.dial(b.Context(), time.Minute)
		if err != nil {
			b.Fatal(err)
		}
		return connection
	}
	first := connect()
	defer first.Close()
	if _, err := first.Do("SET", "order", bytes.Repeat([]byte("x"), size)); err != nil {
		b.Fatal(err)
	}
	p := newPipeline(connect())
	defer p.close()
	plain := make(chan redis.Conn, callers)
	for range callers {
		plain <- connect()
	}
	ways := []struct {
		name string
		get  func() ([]byte, error)
	}{
		{"pipeline", func() ([]byte, error) { return redis.Bytes(p.do(b.Context(), "GET", "order")) }},
		{"plain", func() ([]byte, error) {
			connection := <-plain
			defer func() { plain <- connection }()
			return redis.Bytes(connection.Do("GET", "order"))
		}},
	}
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			var asking sync.WaitGroup
			for caller := range callers {
				asking.Go(func() {
					for i := caller; i < b.N; i += callers {
						if got, err := way.get(); len(got) != size || err != nil {
							b.Errorf("%d bytes, %v", len(got), err)
							return
						}
					}
				})
			}
			asking.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "hits/s")
		})
	}
	for range callers {
		_ = (<-plain).Close()
	}
}
