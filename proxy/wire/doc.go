// Package wire is the JSON of the documented responses: members, their order, and the text form of every value.
//
// An Encoder appends a response to a buffer, so a cached answer is built with one allocation. Without reflection:
// each Append function writes its members one by one and reads like the documentation of the shape. writer (json.go)
// has the syntax, value.go the types that occur everywhere (hashes, addresses, big numbers), and each other file one
// response. Shapes are those of recorded responses of the hosted service; testdata has them as golden files, and
// openapi.yaml in package proxy describes them.
//
// Encoders know nothing of HTTP, caching or where values come from. They do not fail: whatever can be wrong has been
// parsed and checked before. An Encoder is a value without state and may be used by any number of goroutines.
package wire
