package jsonrpc

import (
	"errors"

	"crossgate/upstream"
)

// Judge says in the words of the book of behaviours what a response to so many calls alike means: "answer" when all of
// them have a result.
func Judge(response upstream.Response, asked *Call, calls int) string {
	objects, err := parse(response, calls)
	if err != nil {
		if said, is := errors.AsType[*Error](err); is {
			return said.about(asked).Meaning().String()
		}
		if refused, is := errors.AsType[*batchRefusedError](err); is && !refused.isUnsure {
			return BatchLimit.String()
		}
		if upstream.ClassOf(err) == upstream.RateLimited {
			return RateLimit.String()
		}
		return Unclear.String()
	}
	for _, each := range objects {
		if each.Error != nil {
			return each.Error.about(asked).Meaning().String()
		}
	}
	return "answer"
}
