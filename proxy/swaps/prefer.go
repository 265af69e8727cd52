package swaps

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// waitOf is how long the client prefers to wait for a response (RFC 7240, section 4.3: whole seconds); zero when it has
// no preference that can be parsed.
func waitOf(header http.Header) time.Duration {
	const longest = 60
	for _, line := range header.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 32)
			if err != nil || seconds == 0 {
				return 0
			}
			return time.Duration(min(seconds, longest)) * time.Second
		}
	}
	return 0
}
