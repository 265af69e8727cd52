package linktest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"time"
)

// Ports of FreeAddress, below those that systems assign to outgoing connections (IANA: from 49152; Linux:
// configurable).
const (
	freePorts    = 8_000
	usualOutward = 32_768 // Linux's default of net.ipv4.ip_local_port_range
)

// FreeAddress returns an unused local address for a program that takes one as a parameter. Unlike a port chosen by the
// system, its port is not assigned to an outgoing connection before the program listens.
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

// outward returns the first port that the system assigns to outgoing connections, if there is room below it.
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

// Await calls ready until it succeeds, for a minute at most, and returns its last error.
func Await(ready func() error) error {
	for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
		if err := ready(); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
