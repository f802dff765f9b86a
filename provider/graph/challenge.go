package graph

import "net/url"

// Challenge answers the handshake by which Meta verifies a callback's address.
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
