package shared

// TooOld is tooOld.
var TooOld = tooOld

// HoldBack makes a purge the only queued one, without signalling that it should be published.
func (c *Cache) HoldBack(how Purge, keys ...Key) {
	c.publisher.published(c.publisher.next().last)
	c.publisher.add(how, keys...)
}
