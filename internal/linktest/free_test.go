package linktest

import (
	"net"
	"testing"
)

func TestFreeAddressIsNoneThatTheSystemGives(t *testing.T) {
	given, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer given.Close()
	for range 20 {
		address, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		free, err := net.ResolveTCPAddr("tcp", address)
		if err != nil || !free.IP.IsLoopback() || free.Port >= given.Addr().(*net.TCPAddr).Port {
			t.Errorf("FreeAddress = %s, %v; the system gives %s", address, err, given.Addr())
		}
	}
}
