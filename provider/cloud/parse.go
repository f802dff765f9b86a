package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
)

// Parse reads one change. Of items with the same id it keeps the first.
func (*Provider) Parse(part provider.Part) ([]provider.Event, []provider.Bad) {
	r := reader{group: part.Group, line: part.Line}
	var field string
	for name, value := range jsonscan.Members(part.Body) {
		switch string(name) {
		case "time":
			r.at = value
		case "field":
			field = scalar(value)
		case "value":
			r.value = value
		}
	}
	switch {
	case !json.Valid(part.Body) || jsonscan.Kind(r.value) != '{':
		r.reject("a change without a value", part.Body)
	case field == "messages":
		r.messages()
	default:
		r.others(field)
	}
	return r.events, r.bad
}

// reader takes a change apart.
type reader struct {
	group, line string
	at          []byte // time of the entry, or nil
	value       []byte // of the change
	contacts    []contact
	events      []provider.Event
	bad         []provider.Bad
	seen        map[string]bool // what was read, where there is more than one item
}

func (r *reader) reject(reason string, item []byte) {
	r.bad = append(r.bad, provider.Bad{Reason: reason, Body: item})
}

// add keeps an event unless one of that key was kept before.
func (r *reader) add(key string, e provider.Event) {
	if r.seen[key] {
		return
	}
	if r.seen == nil {
		r.seen = make(map[string]bool, 1)
	}
	r.seen[key] = true
	r.events = append(r.events, e)
}

func (r *reader) raw(id, kind string, body []byte) {
	r.add("raw:"+id, &provider.Raw{ID: id, Kind: kind, Body: body})
}

// messages reads a change of the field that carries messages, their statuses
// and errors of the line itself, all of which may be present.
func (r *reader) messages() {
	var messages, statuses, errs []byte
	for name, value := range jsonscan.Members(r.value) {
		switch string(name) {
		case "contacts":
			r.contacts = readContacts(value)
		case "messages":
			messages = value
		case "statuses":
			statuses = value
		case "errors":
			errs = value
		}
	}
	if messages == nil && statuses == nil && errs == nil {
		r.raw(r.key("messages", r.value), "messages", r.value)
		return
	}
	r.each("messages", messages, r.message)
	r.each("statuses", statuses, r.status)
	r.each("errors", errs, r.failure)
}

// failure keeps an error of the line or of a call, which has no id.
func (r *reader) failure(item []byte) { r.raw(r.key("error", item), "error", item) }

// each calls read for the items of an array; in its place anything else is bad.
func (r *reader) each(name string, array []byte, read func(item []byte)) {
	if array == nil || jsonscan.Kind(array) == 'n' {
		return
	}
	if jsonscan.Kind(array) != '[' {
		r.reject(name+" is no array", array)
		return
	}
	for item := range jsonscan.Elements(array) {
		read(item)
	}
}

// kinds are our words for the fields; a field that is not here is its own.
var kinds = map[string]string{
	"message_template_status_update":     "template_status",
	"message_template_quality_update":    "template_quality",
	"message_template_components_update": "template_components",
	"template_category_update":           "template_category",
	"phone_number_quality_update":        "phone_quality",
	"phone_number_name_update":           "phone_name",
	"business_capability_update":         "capability",
	"business_username_update":           "username_update",
	"account_review_update":              "account_review",
	"user_preferences":                   "user_preference",
	"smb_message_echoes":                 "echo",
	"message_echoes":                     "echo",
	"smb_app_state_sync":                 "contact_sync",
	"calls":                              "call",
}

// others keeps a change of another field, item by item where the items have
// ids of their own.
func (r *reader) others(field string) {
	kind := kinds[field]
	switch {
	case kind == "" && strings.HasPrefix(field, "group_"):
		kind = "group"
	case kind == "":
		kind = first(field, "unknown")
	}
	switch kind {
	case "echo":
		r.each("message_echoes", jsonscan.Get(r.value, "message_echoes"), func(item []byte) {
			r.raw(first(scalar(jsonscan.Get(item, "id")), r.key(kind, item)), kind, item)
		})
	case "call":
		r.calls()
	}
	if len(r.events)+len(r.bad) == 0 {
		r.raw(r.key(field, r.value), kind, r.value)
	}
}

// calls keeps calls and what became of them: one id stands in several events.
func (r *reader) calls() {
	keep := func(kind string) func(item []byte) {
		return func(item []byte) {
			call := scalar(jsonscan.Get(item, "id"))
			if call == "" {
				r.raw(r.key(kind, item), kind, item)
				return
			}
			event, status := scalar(jsonscan.Get(item, "event")), scalar(jsonscan.Get(item, "status"))
			r.raw(strings.Join([]string{kind, call, event, status}, ":"), kind, item)
		}
	}
	r.each("calls", jsonscan.Get(r.value, "calls"), keep("call"))
	r.each("statuses", jsonscan.Get(r.value, "statuses"), keep("call_status"))
	r.each("errors", jsonscan.Get(r.value, "errors"), r.failure)
}

// key makes an id for what has none: the same bytes about the same line, in an
// entry of the same time, are a repeat.
func (r *reader) key(name string, item []byte) string {
	h := sha256.New()
	for _, s := range [][]byte{[]byte(r.group), []byte(r.line), r.at, item} {
		h.Write(s)
		h.Write([]byte{0})
	}
	return name + ":" + hex.EncodeToString(h.Sum(nil)[:16])
}
