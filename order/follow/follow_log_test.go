package follow

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLastingFailureIsToldOnce has a chain fail for half an hour, and be followed again.
func TestLastingFailureIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := &failureLog{logger: slog.New(slog.NewTextHandler(&log, nil))}
		l.recovered(t.Context())
		for range 31 {
			l.failed(t.Context(), errors.New("no route to host"), time.Minute)
			time.Sleep(time.Minute)
		}
		l.recovered(t.Context())
		l.recovered(t.Context())
		if got := log.String(); strings.Count(got, "no route to host") != 3 || strings.Count(got, "followed again") != 1 || strings.Count(got, "\n") != 4 {
			t.Errorf("the log of a failure that lasts 31 minutes:\n%s\nwant three lines, and one at its end", got)
		}
	})
}
