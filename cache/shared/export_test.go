package shared

// HoldBack makes a purge the only one that is queued, without a signal to publish it.
func (c *Cache) HoldBack(how Purge, keys ...Key) {
	c.publisher.published(c.publisher.next().last)
	c.publisher.add(how, keys...)
}
