package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Object is the "object" of this kind's callbacks.
func (*Provider) Object() string { return "whatsapp_business_account" }

// Keys returns the ids of the phone number and of the business account.
func (*Provider) Keys(s provider.Settings) (line, group string) {
	return strings.TrimSpace(s[phoneNumberID]), strings.TrimSpace(s[businessAccountID])
}

// Secrets returns the app's secret and the token of the handshake.
func (*Provider) Secrets(s provider.Settings) (signing, verify string) {
	return graph.Secrets(s)
}

// Signed is [graph.Signed].
func (*Provider) Signed(header http.Header) bool { return graph.Signed(header) }

// Mentions finds the ids of phone numbers, and of what may be business
// accounts: an entry begins with the id of its own.
func (*Provider) Mentions(body []byte) (lines, groups []string) {
	lines = graph.Mentions(body, "phone_number_id", 256)
	groups = graph.Mentions(body, "id", 32)
	return lines, append(groups, graph.Mentions(body, "waba_id", 32)...)
}

// Verify is [graph.Verify].
func (*Provider) Verify(secret string, header http.Header, body []byte) bool {
	return graph.Verify(secret, header, body)
}

// maxParts is the most changes that a callback may have, of whatever numbers.
// Meta puts at most 1000 into one; a body of nothing but empty ones would cost
// a hundred times its size.
const maxParts = 1000

// Route makes a part of each change of each entry. Changes of a phone number
// name it; those of the whole account (templates, reviews) have no reference. The
// parts share body's memory. A body that is not a JSON object is an error.
func (*Provider) Route(body []byte) ([]provider.Part, error) {
	if !json.Valid(body) || jsonscan.Kind(body) != '{' {
		return nil, errors.New("cloud: the callback is no JSON object")
	}
	var parts []provider.Part
	for entry := range jsonscan.Elements(jsonscan.Get(body, "entry")) {
		if parts = routeEntry(parts, entry); len(parts) > maxParts {
			return nil, fmt.Errorf("cloud: the callback has more than %d changes", maxParts)
		}
	}
	return parts, nil
}

// routeEntry appends the parts of an entry; it ends early once there are too
// many.
func routeEntry(parts []provider.Part, entry graph.Value) []provider.Part {
	var id, at, changes graph.Value
	for name, value := range jsonscan.Members(entry) {
		switch string(name) {
		case "id":
			id = value
		case "time":
			at = value
		case "changes":
			changes = value
		}
	}
	for change := range changes.Items() {
		if len(parts) > maxParts {
			break
		}
		value := change.Get("value")
		part := provider.Part{Line: value.Get("metadata").Get("phone_number_id").ID(), Group: id.ID(), Body: timed(at, change)}
		parts = append(parts, part)
		if part.Line != "" {
			continue
		}
		if account := partner(value); account != "" && account != part.Group {
			part.Group = account
			parts = append(parts, part)
		}
	}
	return parts
}

// partner is the account that a partner came to or left, where the entry may
// be the partner's own.
func partner(value graph.Value) string { return value.Get("waba_info").Get("waba_id").ID() }

// maxTime is the longest time of an entry: it is copied into each change.
const maxTime = 24

// timed puts the entry's time into the change, where there is one: it is all
// that tells two equal events of an account apart. Messages come without and
// are not copied.
func timed(at, change graph.Value) json.RawMessage {
	if len(at) > maxTime || at.Time().IsZero() || !change.Object() {
		return json.RawMessage(change)
	}
	body := make([]byte, 0, len(change)+len(at)+len(`{"time":,`))
	body = append(append(body, `{"time":`...), at...)
	rest := change[1:]
	if jsonscan.Kind(rest) != '}' {
		body = append(body, ',')
	}
	return append(body, rest...)
}
