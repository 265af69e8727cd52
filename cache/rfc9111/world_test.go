package rfc9111

import (
	"net/http"
	"strings"
	"time"
)

// now is when the tables' responses were received and, unless stated otherwise, requested.
var now = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)

// header parses lines; $N in a value is the date N seconds after now, and $-N the date N seconds before.
func header(lines string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(lines, "\n") {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			value = strings.TrimSpace(value)
			if seconds, isDate := strings.CutPrefix(value, "$"); isDate {
				after, err := time.ParseDuration(seconds + "s")
				if err != nil {
					panic(err)
				}
				value = now.Add(after).Format(http.TimeFormat)
			}
			h.Add(name, value)
		}
	}
	return h
}

func response(status int, lines string) Response {
	return Response{Status: status, Header: header(lines), Requested: now, Received: now}
}
