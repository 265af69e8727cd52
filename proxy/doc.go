// Package proxy is the HTTP face: the documented paths as data, each walking parse → key → cache → load →
// encode, and errors in the dialect of the API that a path belongs to.
package proxy
