package linktest

import (
	"net"
	"testing"

	"crossgate/internal/must"
)

func TestFreeAddressIsNoneThatTheSystemGives(t *testing.T) {
	given := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer given.Close()
	for range 20 {
		address := must.Get(FreeAddress())(t)
		free, err := net.ResolveTCPAddr("tcp", address)
		if err != nil || !free.IP.IsLoopback() || free.Port >= given.Addr().(*net.TCPAddr).Port {
			t.Errorf("FreeAddress = %s, %v; the system gives %s", address, err, given.Addr())
		}
	}
}
