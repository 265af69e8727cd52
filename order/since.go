package order

// clockSkew is how many seconds the clocks of two chains may differ: a fulfilment can carry an earlier
// time than the creation that it followed.
const clockSkew = 60

// Since is the UNIX time before which nothing of an order happened; zero where its creation is not known.
func Since(o *Order) uint64 {
	if o.Created == nil {
		return 0
	}
	return o.Created.At.Time - min(clockSkew, o.Created.At.Time)
}
