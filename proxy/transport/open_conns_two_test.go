package transport

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
)

// Frames of HTTP/2 (RFC 9113, section 6).
const (
	headersFrame  = 1
	resetFrame    = 3
	settingsFrame = 4
)

func frame(kind, flags byte, stream uint32, payload string) string {
	head := append(binary.BigEndian.AppendUint32(nil, uint32(len(payload)))[1:], kind, flags)
	return string(binary.BigEndian.AppendUint32(head, stream)) + payload
}

// unread opens an HTTP/2 connection on which the server cannot send bodies, and sends a number of requests.
func unread(t *testing.T, connection net.Conn, requests int) {
	t.Helper()
	const noWindow, ended = "\x00\x04\x00\x00\x00\x00", 1 | 4
	sent := preface + frame(settingsFrame, 0, 0, noWindow) + frame(settingsFrame, 1, 0, "")
	for i := range requests {
		sent += frame(headersFrame, ended, uint32(2*i+1), "\x82\x84\x86\x41\x01h") // GET http://h/
	}
	if _, err := io.WriteString(connection, sent); err != nil {
		t.Error(err)
	}
}

// answeredWell reads the responses to a number of requests, without bodies, and counts the 200s.
func answeredWell(t *testing.T, connection net.Conn, requests int) (well int) {
	t.Helper()
	const ok = 0x88 // of HPACK
	reader := bufio.NewReader(connection)
	for head := make([]byte, 9); requests > 0; {
		must.Get(io.ReadFull(reader, head))(t)
		payload := make([]byte, binary.BigEndian.Uint32(head)>>8)
		must.Get(io.ReadFull(reader, payload))(t)
		if head[3] == headersFrame || head[3] == resetFrame {
			requests--
		}
		if head[3] == headersFrame && payload[0] == ok {
			well++
		}
	}
	go func() { _, _ = reader.WriteTo(io.Discard) }()
	return well
}

// TestRequestsOfHTTP2AreBoundedLikeConnections requests bodies that are not read, long and short ones: the latter are
// written before their handlers return. Refusals have no bodies, and each request ends.
func TestRequestsOfHTTP2AreBoundedLikeConnections(t *testing.T) {
	exempt := netip.MustParsePrefix("10.0.0.0/8").Contains
	for name, each := range map[string]struct {
		limits Limits
		want   [2]int // answered of 40 requests from each of two addresses
	}{
		"of one address": {Limits{PerAddress: 8, Exempt: exempt}, [2]int{8, 40}},
		"in all":         {Limits{All: 8}, [2]int{8, 0}},
		"without bounds": {Limits{}, [2]int{40, 40}},
	} {
		for _, length := range []int{10, 4 << 10, 64 << 10} {
			synctest.Test(t, func(t *testing.T) {
				server, listener := serving(t, func(w http.ResponseWriter, _ *http.Request) {
					_, _ = io.WriteString(w, strings.Repeat("x", length))
				}, func(o *Options) { o.Connections = each.limits })
				var got [2]int
				for i, address := range []string{"192.0.2.1:1", "10.0.0.1:1"} {
					for range 4 {
						connection := listener.dialFrom(address)
						defer connection.Close()
						go unread(t, connection, 10)
						got[i] += answeredWell(t, connection, 10)
					}
				}
				if got != each.want {
					t.Errorf("%s, %d bytes: %d requests are answered, want %d", name, length, got, each.want)
				}
				time.Sleep(11 * time.Second) // longer than WriteLimit
				synctest.Wait()
				if server.openConns.requests != 0 || len(server.openConns.requestsFrom) != 0 {
					t.Errorf("%s, %d bytes: %d requests are still counted", name, length, server.openConns.requests)
				}
			})
		}
	}
}

// TestUnreadAnswersTakeLittleMemory has clients of one address send as many requests as they may on many connections,
// and read no bodies, or nothing at all.
func TestUnreadAnswersTakeLittleMemory(t *testing.T) {
	const connections, limit, perConnection, perRequest = 60, 64, 160 << 10, 24 << 10
	body := strings.Repeat("x", 64<<10)
	for name, reads := range map[string]bool{"at a closed window": true, "on a connection that is not read": false} {
		synctest.Test(t, func(t *testing.T) {
			server, listener := serving(t, func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, body)
			}, func(o *Options) { o.Connections.PerAddress, o.WriteLimit = limit, time.Minute })
			before := used()
			for range connections {
				connection := listener.dialFrom("192.0.2.1:1")
				defer connection.Close()
				go unread(t, connection, mostStreams)
				if reads {
					answeredWell(t, connection, mostStreams)
				}
				synctest.Wait()
			}
			_ = used() // pools keep their content for one collection
			takes, most := used()-before, int64(connections*perConnection+2*limit*perRequest)
			if t.Logf("%s: %d bytes", name, takes); takes > most || server.openConns.requests > 2*limit {
				t.Errorf("%s: %d bytes by %d requests, want %d at most", name, takes, server.openConns.requests, most)
			}
		})
	}
}
