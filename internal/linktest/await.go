package linktest

import "time"

// Await calls ready until it succeeds, for a minute at most, and returns its last error.
func Await(ready func() error) error {
	for deadline := time.Now().Add(time.Minute); ; <-time.After(10 * time.Millisecond) {
		if err := ready(); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}
