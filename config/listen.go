package config

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
)

// CheckListen reports whether a listener's address is valid: host:port, where an empty host means every interface.
func CheckListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("want host:port, for instance 127.0.0.1:8080")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("want a port from 0 to 65535 after the colon")
	}
	return nil
}

func checkListen(address string, at place) {
	if err := CheckListen(address); err != nil {
		at.mistake("%s", err)
	}
}

// clash reports whether two listeners cannot both listen, because they share a port. Port 0 means any free port.
func clash(a, b string) bool {
	host, port, err := net.SplitHostPort(a)
	other, otherPort, otherErr := net.SplitHostPort(b)
	return err == nil && otherErr == nil && port == otherPort && port != "0" &&
		(host == other || isEveryInterface(host) || isEveryInterface(other))
}

func isEveryInterface(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}
