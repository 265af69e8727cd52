package config

import (
	"net"
	"strconv"
)

// checkListen requires host:port; an empty host means every interface.
func checkListen(address string, at place) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		at.mistake("want host:port, for instance 127.0.0.1:8080")
		return
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		at.mistake("want a port from 0 to 65535 after the colon")
	}
}
