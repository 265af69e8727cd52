package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Stream is a Valkey or Redis stream that others read. It is not safe for concurrent use.
type Stream struct {
	server     server
	name       string
	connection redis.Conn // nil if not connected
}

// StreamEntry is an entry of a stream. Numbers ascend.
type StreamEntry struct {
	Number uint64
	Fields []string // names and values
}

const streamSilence = 5 * time.Second

// NewStream returns the stream called name at a URL like that of Options.
func NewStream(url, name string) (*Stream, error) {
	at, err := parseURL(url)
	return &Stream{server: at, name: name}, err
}

// Close closes the connection.
func (s *Stream) Close() {
	if s.connection != nil {
		_ = s.connection.Close()
		s.connection = nil
	}
}

// do runs a command, and closes the connection after an error: a server that refuses may have become a replica, and
// another one have its address.
func (s *Stream) do(ctx context.Context, command string, args ...any) (reply any, err error) {
	if s.connection == nil {
		if s.connection, err = s.server.dial(ctx, streamSilence); err != nil {
			s.connection = nil
			return nil, err
		}
		info, _ := redis.String(s.connection.Do("INFO", "server")) // a user may lack the right to it
		if err = tooOld(info); err != nil {
			s.Close()
			return nil, err
		}
	}
	reply, err = s.connection.Do(command, args...)
	if err != nil {
		s.Close()
		return nil, s.server.withoutPassword(err)
	}
	return reply, nil
}

// tooOld returns an error if a server's INFO has a version that cannot trim a stream by age. Every Valkey can.
func tooOld(info string) error {
	_, version, _ := strings.Cut(info, "redis_version:")
	version, _, _ = strings.Cut(version, "\r\n")
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n == 2 && slices.Compare([]int{major, minor}, []int{6, 2}) < 0 {
		return fmt.Errorf("events need Redis 6.2 or newer, or Valkey, and the server is Redis %s", version)
	}
	return nil
}

// Last returns the greatest number that the stream ever had, 0 if it does not exist.
func (s *Stream) Last(ctx context.Context) (uint64, error) {
	reply, err := redis.Values(s.do(ctx, "XINFO", "STREAM", s.name))
	if _, refused := errors.AsType[redis.Error](err); refused && strings.Contains(err.Error(), "no such key") {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("last entry of stream: %w", err)
	}
	at := slices.IndexFunc(reply, func(each any) bool { name, _ := redis.String(each, nil); return name == "last-generated-id" })
	if at < 0 || at+1 == len(reply) {
		return 0, errors.New("last entry of stream: missing from the server's reply")
	}
	id, _ := redis.String(reply[at+1], nil)
	number, _, _ := strings.Cut(id, "-")
	return strconv.ParseUint(number, 10, 64)
}

// Append appends entries after the one with the number last, trims those with numbers below oldest, approximately, and
// returns the number of the new last one. It fails if the stream ends elsewhere: without this, readers of one that was
// flushed or evicted would lack what it had.
func (s *Stream) Append(ctx context.Context, last uint64, entries []StreamEntry, oldest uint64) (uint64, error) {
	if end, err := s.Last(ctx); err != nil || end != last {
		return last, cmp.Or(err, fmt.Errorf("the stream ends at %d, not at %d", end, last))
	}
	for _, each := range entries {
		args := redis.Args{s.name, "MINID", "~", oldest, strconv.FormatUint(each.Number, 10) + "-0"}.AddFlat(each.Fields)
		if _, err := s.do(ctx, "XADD", args...); err != nil {
			return last, fmt.Errorf("append %d to stream: %w", each.Number, err)
		}
		last = each.Number
	}
	return last, nil
}
