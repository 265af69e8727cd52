package tron

import "encoding/json"

// Codes of java-tron's errors.
const (
	parseError     = -32700
	invalidRequest = -32600
	methodNotFound = -32601
	badParams      = -32602
	internalError  = -32000
	limitExceeded  = -32005
)

// fault is an error object.
type fault struct {
	Code    int
	Message string
	Data    string // of a revert; "{}" otherwise
}

func (f *fault) Error() string { return f.Message }

// MarshalJSON writes the object as java-tron does, whose data is never missing.
func (f *fault) MarshalJSON() ([]byte, error) {
	data := f.Data
	if data == "" {
		data = "{}"
	}
	return json.Marshal(map[string]any{"code": f.Code, "message": f.Message, "data": data})
}

func invalidParams(message string) *fault { return &fault{Code: badParams, Message: message} }
