package shared

// HoldBack makes a purge the only one that is queued, without a signal to publish it.
func (c *Cache) HoldBack(how Purge, keys ...Key) {
	c.publisher.mu.Lock()
	defer c.publisher.mu.Unlock()
	c.publisher.queued = purgeSet{}
	c.publisher.queued.add(how, keys...)
}
