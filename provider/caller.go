package provider

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// Caller is a Provider whose network posts callbacks to one address for all
// references. Its methods do no I/O and keep no state.
type Caller interface {
	// Object is the top-level "object" of the callbacks of this kind.
	Object() string
	// Keys returns the ids under which the network knows a reference: its own,
	// such as a phone number id or page id, and that of the account above it or
	// "".
	Keys(s Settings) (reference, group string)
	// Secrets returns the secret that signs callbacks and the token of the
	// verification handshake.
	Secrets(s Settings) (signing, verify string)
	// Signed reports whether header contains a signature, without checking it.
	Signed(header http.Header) bool
	// Mentions finds ids of references and of groups in body, to find the
	// secrets that may have signed it. It runs before the signature is checked,
	// on data from any sender: it must be cheap, may return strings that are no
	// such ids, and returns at most a few hundred. One id that body is about is
	// enough.
	Mentions(body []byte) (references, groups []string)
	// Verify reports whether header contains a signature of body under secret.
	Verify(secret string, header http.Header, body []byte) bool
	// Route splits a callback into parts that belong to one reference or group
	// each. It reads only the ids, of a body whose signature was verified. The
	// parts may share body's memory. A body that is not a JSON object is an
	// error.
	Route(body []byte) ([]Part, error)
	// Parse returns the events of a part. Items with the same id become one
	// event. An item that this version does not support becomes a Raw. An item
	// that cannot be read becomes a Bad and does not affect the other items.
	Parse(part Part) ([]Event, []Bad)
}

// Part is the part of a callback that belongs to one reference, or to all
// references of one group.
type Part struct {
	NetworkID string // the network's id of the reference, or ""
	Group     string // the network's id of the group, or ""
	Body      json.RawMessage
}

// Bad is an item of a callback that could not be read.
type Bad struct {
	Reason string
	Body   json.RawMessage
}

// Challenge answers the handshake by which Meta verifies the address of the callbacks.
// If verify accepts the query's token, it returns the text to answer with
// status 200; otherwise the answer is 403. verify is not called for an empty
// token and must compare in constant time. The text comes from the request: it
// must be sent as text/plain, never as HTML.
func Challenge(query url.Values, verify func(token string) bool) (text string, ok bool) {
	token, challenge := query.Get("hub.verify_token"), query.Get("hub.challenge")
	if query.Get("hub.mode") != "subscribe" || token == "" || challenge == "" || !verify(token) {
		return "", false
	}
	return challenge, true
}
