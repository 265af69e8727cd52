package bench

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"

	"crossgate/proxy"
	"crossgate/proxy/shadow"
	"crossgate/upstream"
)

// Variables that tell shadowedHot its origin and the share of requests that are compared.
const (
	shadowOrigin = "CROSSGATE_SHADOW_ORIGIN"
	shadowShare  = "CROSSGATE_SHADOW_SHARE"
)

// shadowedHot is the face of crossgateHot, of whose answers a share is compared with those of another process.
func shadowedHot(listener net.Listener) error {
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())))
	share, err := strconv.ParseFloat(os.Getenv(shadowShare), 64)
	if err != nil {
		return err
	}
	endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: "origin", URL: "http://" + os.Getenv(shadowOrigin), Forwards: true})
	if err != nil {
		return err
	}
	defer endpoint.Close()
	server, err := newOrderServer(func(o *proxy.Options) {
		o.Tracing.Share = 0.01
		o.Passthrough.Shadow = proxy.Shadow{
			Origins: singleOrigin{upstream.NewPool("origin", endpoint)},
			Settings: shadow.Settings{
				Share: share, Paths: []shadow.Path{{Prefix: "/", Host: "origin"}},
			},
		}
	})
	if err != nil {
		return err
	}
	return server.Run(context.Background(), listener)
}

// BenchmarkShadowedHit asks servers for the same kept order that compare none, one of a hundred, and all of their answers
// with an origin in a process of its own, a batch at a time in turn. What counts is the ratio of the processor time;
// where all are compared, most are dropped for want of room, as they are to be.
func BenchmarkShadowedHit(b *testing.B) {
	const (
		batch       = 2000
		connections = 4
	)
	origin := startProcess(b, serverVariable+"=crossgate", "GOMAXPROCS=1", "GOGC=400").line(b)
	askHot(b, origin, hotPath(), connections, 100)
	contenders := map[string]*contender{}
	for _, share := range []string{"0", "0.01", "1"} {
		process := startProcess(b, serverVariable+"=shadow", shadowOrigin+"="+origin, shadowShare+"="+share, "GOMAXPROCS=1", "GOGC=400")
		contenders[share] = &contender{name: share, pid: process.pid, address: process.line(b)}
		askHot(b, contenders[share].address, hotPath(), connections, batch/connections) // the first requests make the answer
	}
	for b.Loop() {
		for _, c := range contenders {
			before, began := c.spent(b), time.Now()
			askHot(b, c.address, hotPath(), connections, batch/connections)
			c.wall += time.Since(began)
			c.cpu += c.spent(b) - before
		}
	}
	for share, c := range contenders {
		b.ReportMetric(float64(c.cpu.Microseconds())/float64(b.N*batch), fmt.Sprintf("share-%s-cpu-µs/req", share))
	}
	b.ReportMetric(0, "ns/op")
}
