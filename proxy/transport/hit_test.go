// The race detector has sync.Pool forget at random, which counts as allocations.

//go:build !race

package transport

import (
	"net"
	"net/http"
	"strconv"
	"testing"
)

// TestHitAllocates counts what a request costs between the connection and a handler that does nothing but write.
func TestHitAllocates(t *testing.T) {
	body := make([]byte, 9500)
	served := make(chan error, 1)
	t.Cleanup(func() { // after the server has been shut down
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	length, kind := []string{strconv.Itoa(len(body))}, []string{"application/json"}
	server, _ := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Length"], w.Header()["Content-Type"] = length, kind
		_, _ = w.Write(body)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a pipe would allocate
	if err != nil {
		t.Fatal(err)
	}
	go func() { served <- server.Serve(listener) }()
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	request, answer := []byte(requests["plain"]), make([]byte, 16<<10)
	got := testing.AllocsPerRun(100, func() {
		if _, err := connection.Write(request); err != nil {
			t.Fatal(err)
		}
		for read := 0; read < len(body); {
			n, err := connection.Read(answer)
			if err != nil {
				t.Fatal(err)
			}
			read += n
		}
	})
	const most = 7
	if got > most {
		t.Errorf("%v allocations, want %d at most", got, most)
	}
}
