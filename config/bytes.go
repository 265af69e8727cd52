package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Bytes is an amount of memory or storage.
type Bytes int64

// The units that ParseBytes reads, longest names first.
var units = []struct {
	name string
	size int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"kB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
	{"", 1},
}

var errNoSize = errors.New("not a size")

// ParseBytes reads a whole number with a unit (B, kB, KiB, MB, MiB, GB, GiB) or without (bytes).
func ParseBytes(text string) (Bytes, error) {
	for _, unit := range units {
		digits, found := strings.CutSuffix(text, unit.name)
		if !found {
			continue
		}
		number, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 63)
		if err != nil || int64(number) > math.MaxInt64/unit.size {
			return 0, errNoSize
		}
		return Bytes(int64(number) * unit.size), nil
	}
	return 0, errNoSize
}
