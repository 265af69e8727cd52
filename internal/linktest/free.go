package linktest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

// Ports that FreeAddress hands out: below those that systems give to connections which go out (IANA: 49152 on; Linux:
// from what it says itself).
const (
	freePorts    = 8_000
	usualOutward = 32_768 // Linux's default of net.ipv4.ip_local_port_range
)

// FreeAddress returns an address of this machine for a program that takes one as a parameter: it is unused, and no
// connection that goes out is given its port before the program listens, as happens to ports that the system chose.
func FreeAddress() (string, error) {
	first := outward() - freePorts
	for range 100 {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(freePorts)))
		if err == nil {
			return listener.Addr().String(), listener.Close()
		}
	}
	return "", errors.New("no free port was found")
}

// outward is the first port that the system gives to connections which go out, where there is room below it.
func outward() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return usualOutward
	}
	var first int
	if _, err := fmt.Sscan(string(text), &first); err != nil || first < 2*freePorts {
		return usualOutward
	}
	return first
}
