package server

import "github.com/trunklinehq/trunkline/server/internal/httpapi"

type (
	// Problem is what every refused request is answered with: an RFC 9457
	// document with Type, Title, Status, Detail, Code and Errors. Code is
	// stable; the other texts are for people.
	Problem = httpapi.Problem
	// FieldError says what is wrong with one value of a request: its Location,
	// a Message and, for a problem of a flow, its Code and NodeID.
	FieldError = httpapi.FieldError
)
