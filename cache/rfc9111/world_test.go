package rfc9111

import (
	"net/http"
	"strings"
	"time"
)

// now is when responses of the tables were received, a second after they were requested in vain.
var now = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)

// header reads lines; $N in a value is the date N seconds after now, as -N before it.
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
