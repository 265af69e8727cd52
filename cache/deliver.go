package cache

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/rueidis"
)

// purgedAtOnce bounds how many keys one script marks, since the server does nothing else meanwhile.
const purgedAtOnce = 500

// deliver tells the server, and by it the other replicas, of purges.
func (s *Shared) deliver(ctx context.Context, client rueidis.Client) error {
	ctx, cancel := context.WithTimeout(ctx, s.silence)
	defer cancel()
	told := s.outbox.take()
	err := s.tell(ctx, client, told)
	s.outbox.done(err == nil)
	if err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	return nil
}

func (s *Shared) tell(ctx context.Context, client rueidis.Client, l letter) error {
	if l.all {
		return s.tellOf(ctx, client, Hard)
	}
	var by [2][]Key
	for key, how := range l.purges {
		by[how] = append(by[how], key)
	}
	for how, keys := range by {
		for some := range slices.Chunk(keys, purgedAtOnce) {
			if err := s.tellOf(ctx, client, Purge(how), some...); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellOf tells of one purge; of everything when there are no keys.
func (s *Shared) tellOf(ctx context.Context, client rueidis.Client, how Purge, keys ...Key) error {
	word := map[Purge]string{Soft: "soft", Hard: "hard"}[how]
	arguments := []string{
		markPrefix, strconv.Itoa(int(markTime / time.Second)), channelName,
		notice{from: s.replica, how: how, keys: keys}.text(), word,
	}
	for _, key := range keys {
		arguments = append(arguments, key.text())
	}
	return purgeScript.Exec(ctx, client, []string{stateName}, arguments).Error()
}
