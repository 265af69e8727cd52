// Package wire is the JSON of the documented answers: their members, the members' order and the textual
// form of every value, and nothing else.
//
// Nothing here reflects: an answer is appended member by member, so each function reads like the
// documentation of its shape. Forms are those of recorded answers of the service.
package wire
