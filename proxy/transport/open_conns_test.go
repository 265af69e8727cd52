package transport

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
)

// ask sends a request over an open connection and returns the status code.
func ask(t *testing.T, connection net.Conn, path string) int {
	t.Helper()
	go func() { _, _ = io.WriteString(connection, "GET "+path+" HTTP/1.1\r\nHost: h\r\n\r\n") }()
	response := must.Get(http.ReadResponse(bufio.NewReader(connection), nil))(t)
	must.Get(io.Copy(io.Discard, response.Body))(t)
	return response.StatusCode
}

// TestConnectionsAreBounded opens more connections than there are places: the longest idle one makes room, be it used or
// not, and if none is idle the new one is refused with the reason.
func TestConnectionsAreBounded(t *testing.T) {
	exempt := netip.MustParsePrefix("10.0.0.0/8").Contains
	for name, each := range map[string]struct {
		limits  Limits
		from    [4]string // of four connections
		refused int       // status of the last one; 0: it is admitted
	}{
		"of one address":   {Limits{PerAddress: 2}, [4]string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3", "192.0.2.1:4"}, 429},
		"of one network":   {Limits{PerAddress: 2}, [4]string{"[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "[2001:db8::4]:1"}, 429},
		"of many networks": {Limits{PerAddress: 2}, [4]string{"[2001:db8:0:1::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "[2001:db8:0:1::4]:1"}, 0},
		"of a proxy":       {Limits{PerAddress: 2, Exempt: exempt}, [4]string{"10.0.0.1:1", "10.0.0.1:2", "10.0.0.1:3", "[::ffff:10.0.0.1]:4"}, 0},
		"in all":           {Limits{All: 2}, [4]string{"192.0.2.1:1", "192.0.2.2:2", "192.0.2.3:3", "192.0.2.4:4"}, 503},
	} {
		for _, isUsed := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				busy := make(chan struct{})
				_, listener := serving(t, func(_ http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/busy" {
						<-busy
					}
				}, func(o *Options) { o.Connections = each.limits })
				first, second := listener.dialFrom(each.from[0]), listener.dialFrom(each.from[1])
				if isUsed {
					ask(t, second, "/")
				}
				must.Get(io.WriteString(first, "GET /busy HTTP/1.1\r\nHost: h\r\n\r\n"))(t)
				synctest.Wait()
				third := listener.dialFrom(each.from[2])
				if status := ask(t, third, "/"); status != http.StatusOK {
					t.Errorf("%s: %d while another is idle", name, status)
				}
				if each.refused == 0 {
					if status := ask(t, second, "/"); status != http.StatusOK {
						t.Errorf("%s: %d of one that need not make room", name, status)
					}
				} else if _, err := second.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
					t.Errorf("%s: the idle connection: %v, want its end", name, err)
				}
				synctest.Wait()
				must.Get(io.WriteString(third, "GET /busy HTTP/1.1\r\nHost: h\r\n\r\n"))(t)
				synctest.Wait()
				want := each.refused
				if want == 0 {
					want = http.StatusOK
				}
				last := listener.dialFrom(each.from[3])
				if status := ask(t, last, "/"); status != want {
					t.Errorf("%s: %d while none is idle, want %d", name, status, want)
				}
				close(busy)
				for _, connection := range []net.Conn{first, second, third, last} {
					_ = connection.Close()
				}
			})
		}
	}
}

// TestMemoryGrowsWithWhatArrives has many clients announce as much as they may, and send one byte of it.
func TestMemoryGrowsWithWhatArrives(t *testing.T) {
	const clients, most = 300, 20 << 10
	for _, sent := range []string{
		"", // a connection that waits for its first request
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\na",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 65536\r\n\r\na",
	} {
		_, listener := serving(t, func(http.ResponseWriter, *http.Request) {}, func(o *Options) { o.BodyBytes = 64 << 10 })
		before := used()
		var open []net.Conn
		for range clients {
			connection := listener.dial()
			if _, err := io.WriteString(connection, sent); sent != "" && err != nil {
				t.Fatal(err)
			}
			open = append(open, connection)
		}
		if each := int64(used()-before) / clients; each > most {
			t.Errorf("%.80q takes %d bytes, want %d at most", sent, each, most)
		} else {
			t.Logf("%.80q takes %d bytes", sent, each)
		}
		for _, connection := range open {
			_ = connection.Close()
		}
	}
}

// used returns how many bytes are in use.
func used() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestRefusedBodyIsReadAllTheSame sends a refused request as a balancer does: all of it before reading a response.
func TestRefusedBodyIsReadAllTheSame(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	servingOn(t, listener, func(http.ResponseWriter, *http.Request) {})
	body := strings.Repeat("b", 4<<20)
	for name, each := range map[string]struct {
		sent   string
		status int
	}{
		"long body":            {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4194304\r\n\r\n" + body, 413},
		"long chunk":           {chunked("400000\r\n" + body + "\r\n0\r\n\r\n"), 413},
		"long header":          {"GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + body + "\r\n\r\n", 431},
		"unknown coding":       {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n" + body, 501},
		"unknown expectation":  {"POST / HTTP/1.1\r\nHost: h\r\nExpect: coffee\r\nContent-Length: 4194304\r\n\r\n" + body, 417},
		"requests after close": {"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + body, 200},
	} {
		connection := must.Get(net.Dial("tcp", listener.Addr().String()))(t)
		if _, err := io.WriteString(connection, each.sent); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil || response.StatusCode != each.status {
			t.Errorf("%s: %v (%v), want %d", name, response, err, each.status)
		} else if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		connection.Close()
	}
}

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
