package wire

// Problem is an error response.
type Problem struct {
	Code      int    // errorCode
	ID        string // errorId, for programs
	Message   string // for people
	RequestID string // reqId
}

// AppendProblem appends an error body, with the message under the names of both APIs.
func AppendProblem(dst []byte, p Problem) []byte {
	return Encoder{}.object(dst, func(w *writer) {
		w.name("errorCode").uint(uint64(p.Code))
		w.name("errorId").plain(p.ID)
		w.name("message").text(p.Message)
		w.name("errorMessage").text(p.Message)
		w.name("reqId").plain(p.RequestID)
	})
}
