// Package wire encodes the documented responses as JSON: their members in sequence, and the text form of every value.
//
// An Encoder appends a response to a buffer without reflection: each Append function writes its members one by one and
// reads like the documentation of the response. writer (json.go) has the syntax, value.go the common types, and each
// other file one response. The format is that of recorded responses of the hosted service, which are the golden files
// in testdata. Encoders do not fail: values have been checked before.
package wire
