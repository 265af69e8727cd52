// Package bench measures what a request costs, beside a bare net/http server that answers the same bytes:
// the difference is the gateway's own; and what faults cost while much is asked. `make bench` runs it.
package bench
