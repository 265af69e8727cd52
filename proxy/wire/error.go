package wire

// Problem is why there is no answer.
type Problem struct {
	Code      int    // errorCode
	ID        string // errorId, for programs
	Message   string // for people
	RequestID string // reqId
}

// AppendProblem appends an error body. The tracking API names the text message, the swap API
// errorMessage; clients of either find what they read.
func AppendProblem(dst []byte, p Problem) []byte {
	w := &writer{json: dst}
	w.open('{')
	w.name("errorCode").uint(uint64(p.Code))
	w.name("errorId").plain(p.ID)
	w.name("message").text(p.Message)
	w.name("errorMessage").text(p.Message)
	w.name("reqId").plain(p.RequestID)
	w.close('}')
	return w.json
}
