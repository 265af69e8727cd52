package order

// clockSkew is by how many seconds the clocks of two chains may differ: a fulfilment can have an earlier time than the
// creation before it.
const clockSkew = 60

// Since returns the UNIX time before which nothing can have happened to an order; zero if its creation is not known.
func Since(o *Order) uint64 {
	if o.Created == nil {
		return 0
	}
	return o.Created.At.Time - min(clockSkew, o.Created.At.Time)
}
