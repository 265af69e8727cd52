// Package bench measures what a request costs next to a bare net/http server that answers the same bytes: the
// difference is the gateway's own. `make bench` runs it. Its tests make a fleet fail, drain and upgrade.
package bench
