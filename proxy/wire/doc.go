// Package wire is the JSON of the documented responses: members, their order, and the text form of every value.
//
// An Encoder appends a response to a buffer without reflection: each Append function writes its members one by one and
// reads like the documentation of the shape. writer (json.go) has the syntax, value.go the types that occur everywhere,
// and each other file one response. Shapes are those of recorded responses of the hosted service; testdata has them as
// golden files. Encoders do not fail: whatever can be wrong has been checked before.
package wire
