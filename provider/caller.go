package provider

import (
	"encoding/json"
	"net/http"
)

// Caller is a Provider whose network posts callbacks to one address for all
// references. The methods do no I/O and hold no state.
type Caller interface {
	// Object is the callback's top-level "object" that this kind answers to.
	Object() string
	// Keys returns the ids under which the network knows a reference: its own
	// (phone number id, page id), and that of the account above it or "".
	Keys(s Settings) (line, group string)
	// Secrets returns the secret that signs callbacks and the token of the
	// verification handshake.
	Secrets(s Settings) (signing, verify string)
	// Signed reports whether header holds a signature of any body under any
	// secret.
	Signed(header http.Header) bool
	// Mentions finds ids of references and of groups that body may be about, by which
	// it is found out whose secret signed it. It runs before the signature can be
	// checked, on whatever anybody posted: it must cost little, may find what is
	// no such id, and returns a few hundred at most. One that body is about
	// suffices.
	Mentions(body []byte) (lines, groups []string)
	// Verify reports whether header holds a signature of body under secret.
	Verify(secret string, header http.Header, body []byte) bool
	// Route splits a callback into parts that belong to one reference or group
	// each. It reads the ids and nothing else, of a body whose signature was
	// verified. The parts may share body's memory. A body that is not a JSON object is
	// an error.
	Route(body []byte) ([]Part, error)
	// Parse turns a part into events, an id that comes twice in it into one.
	// What this version does not know becomes a Raw; what could not be kept
	// even so becomes a Bad and costs its neighbours nothing.
	Parse(part Part) ([]Event, []Bad)
}

// Part is the share of a callback that belongs to one reference, or to all references
// of one group.
type Part struct {
	Line  string // the network's id of the reference, or ""
	Group string // the network's id of the group, or ""
	Body  json.RawMessage
}

// Bad is an item of a callback that could not be read.
type Bad struct {
	Reason string
	Body   json.RawMessage
}
