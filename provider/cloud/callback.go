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

// Object is the "object" of the callbacks of this kind.
func (*Provider) Object() string { return "whatsapp_business_account" }

// Keys returns the ids of the phone number and of the business account.
func (*Provider) Keys(s provider.Settings) (reference, group string) {
	return strings.TrimSpace(s[phoneNumberID]), strings.TrimSpace(s[businessAccountID])
}

// Secrets returns the app secret and the token of the handshake.
func (*Provider) Secrets(s provider.Settings) (signing, verify string) {
	return graph.Secrets(s)
}

// Signed is [graph.Signed].
func (*Provider) Signed(header http.Header) bool { return graph.Signed(header) }

// Mentions finds the ids of phone numbers, and of what may be business
// accounts: each entry starts with the id of its account.
func (*Provider) Mentions(body []byte) (references, groups []string) {
	references = graph.Mentions(body, "phone_number_id", 256)
	groups = graph.Mentions(body, "id", 32)
	return references, append(groups, graph.Mentions(body, "waba_id", 32)...)
}

// Verify is [graph.Verify].
func (*Provider) Verify(secret string, header http.Header, body []byte) bool {
	return graph.Verify(secret, header, body)
}

// maxParts limits the changes of a callback. Meta puts at most 1000 into one.
// Parts of an empty change take a hundred times its size.
const maxParts = 1000

// Route makes a part of each change of each entry. Changes of a phone number
// name it; those of the whole account, such as templates and reviews, have no
// reference. The parts share body's memory. A body that is not a JSON object is
// an error.
func (*Provider) Route(body []byte) ([]provider.Part, error) {
	if !json.Valid(body) || jsonscan.Kind(body) != '{' {
		return nil, errors.New("cloud: the callback is not a JSON object")
	}
	var parts []provider.Part
	for entry := range jsonscan.Elements(jsonscan.Get(body, "entry")) {
		if parts = routeEntry(parts, entry); len(parts) > maxParts {
			return nil, fmt.Errorf("cloud: the callback has more than %d changes", maxParts)
		}
	}
	return parts, nil
}

// routeEntry appends the parts of an entry. It stops when there are too many.
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
		part := provider.Part{NetworkID: value.Get("metadata").Get("phone_number_id").ID(), Group: id.ID(), Body: timed(at, change)}
		parts = append(parts, part)
		if part.NetworkID != "" {
			continue
		}
		if account := partner(value); account != "" && account != part.Group {
			part.Group = account
			parts = append(parts, part)
		}
	}
	return parts
}

// partner returns the account that a partner has added or removed, in an entry
// that may be the partner's own.
func partner(value graph.Value) string { return value.Get("waba_info").Get("waba_id").ID() }

// maxTime limits the length of an entry's time, which is copied into each
// change.
const maxTime = 24

// timed adds the entry's time to a change that has none: without it, two equal
// events of an account could not be told apart. Messages are not copied.
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

// Parse reads one change. Of items with the same id it keeps the first.
func (*Provider) Parse(part provider.Part) ([]provider.Event, []provider.Bad) {
	r := reader{Reader: graph.Reader{NetworkID: part.NetworkID}}
	var field string
	for name, value := range jsonscan.Members(part.Body) {
		switch string(name) {
		case "time":
			r.At = value
		case "field":
			field = graph.Value(value).ID()
		case "value":
			r.value = value
		}
	}
	if !json.Valid(part.Body) || !r.value.Object() {
		r.Reject("a change without a value", graph.Value(part.Body))
	} else {
		r.read(field)
	}
	return r.Events, r.Bad
}

// fields are the supported fields of changes, with the kind of their reports.
// Each has a page with its name below
// https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/
var fields = map[string]struct {
	kind string
	read func(r *reader, kind string)
}{
	"messages":                           {"messages", (*reader).messages},
	"message_echoes":                     {"echo", (*reader).echoes},
	"smb_message_echoes":                 {"echo", (*reader).echoes},
	"history":                            {"history", (*reader).history},
	"smb_app_state_sync":                 {"contact_sync", (*reader).contactSync},
	"user_preferences":                   {"user_preference", (*reader).preferences},
	"user_id_update":                     {"user_id_update", (*reader).userIDs},
	"calls":                              {"call", (*reader).calls},
	"group_lifecycle_update":             {"group", (*reader).groups},
	"group_participants_update":          {"group", (*reader).groups},
	"group_settings_update":              {"group", (*reader).groups},
	"group_status_update":                {"group", (*reader).groups},
	"message_template_status_update":     {"template_status", (*reader).template},
	"message_template_quality_update":    {"template_quality", (*reader).template},
	"message_template_components_update": {"template_components", (*reader).template},
	"template_category_update":           {"template_category", (*reader).template},
	"account_update":                     {"account_update", (*reader).account},
	"account_review_update":              {"account_review", (*reader).review},
	"phone_number_quality_update":        {"phone_quality", (*reader).phoneQuality},
	"phone_number_name_update":           {"phone_name", (*reader).phoneName},
	"business_capability_update":         {"capability", (*reader).capability},
	"business_username_update":           {"username_update", (*reader).username},
	"security":                           {"security", (*reader).security},
}

// reader parses a change.
type reader struct {
	graph.Reader
	value  graph.Value // of the change
	people people
}

// read reads the value of a field. A value of an unknown field, or one in which
// nothing is supported, becomes a Raw.
func (r *reader) read(field string) {
	f, known := fields[field]
	if known {
		f.read(r, f.kind)
	}
	if len(r.Events)+len(r.Bad) == 0 {
		kind := first(f.kind, field, "unknown")
		r.Raw(r.Key(kind, r.value), kind, r.value)
	}
}

// each calls read for the items of an array of the value.
func (r *reader) each(name string, read func(item graph.Value)) {
	r.Each(name, r.value.Get(name), read)
}

// messages reads a change of the field for messages, statuses and errors of the
// reference. Each of these may be missing.
func (r *reader) messages(string) {
	r.people = readPeople(r.value.Get("contacts"))
	r.each("messages", r.message)
	r.each("statuses", r.status)
	r.each("errors", func(item graph.Value) { r.issue(provider.HealthWarning, item) })
}

// failure returns the first of the errors of an item, or nil. The network gives
// the reason in several places, or not at all.
func failure(errs graph.Value) *provider.Failure {
	for e := range errs.Items() {
		return readFailure(e)
	}
	return nil
}

func readFailure(e graph.Value) *provider.Failure {
	text := first(e.Get("message").Text(), e.Get("title").Text())
	data := e.Get("error_data")
	more := first(data.Get("details").Text(), data.Text(), e.Get("details").Text())
	if more != "" && more != text {
		text = strings.TrimPrefix(text+": "+more, ": ")
	}
	return &provider.Failure{Code: e.Get("code").ID(), Message: text}
}
