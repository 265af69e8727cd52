// Package bench measures what a request costs, beside a bare net/http server that answers the same bytes:
// the difference is the gateway's own. `make bench` runs it. Its tests have a fleet fail, drain and upgrade.
package bench
