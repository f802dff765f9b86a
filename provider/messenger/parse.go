package messenger

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Parse reads one entry. Of items with the same id it keeps the first.
func (*Provider) Parse(part provider.Part) ([]provider.Event, []provider.Bad) {
	r := reader{graph.Reader{NetworkID: part.NetworkID}}
	entry := graph.Value(part.Body)
	if !json.Valid(part.Body) || !entry.Object() {
		r.Reject("an entry that is no object", entry)
		return r.Events, r.Bad
	}
	r.At = entry.Get("time")
	r.Each("messaging", entry.Get("messaging"), func(v graph.Value) { r.item(v, false) })
	r.Each("standby", entry.Get("standby"), func(v graph.Value) { r.item(v, true) })
	r.Each("changes", entry.Get("changes"), r.change)
	return r.Events, r.Bad
}

// reader parses an entry.
type reader struct{ graph.Reader }

// item is an event between a person and the page.
type item struct {
	all               graph.Value
	sender, recipient string
	at                time.Time // zero: not known
	standby           bool      // another app answers in this chat
}

// kinds read events by the member that contains them. They are documented at
// https://developers.facebook.com/docs/messenger-platform/reference/webhook-events
var kinds = map[string]func(r *reader, in *item, v graph.Value){
	"message":                (*reader).message,
	"message_edit":           (*reader).edit,
	"postback":               (*reader).postback,
	"reaction":               (*reader).reaction,
	"referral":               (*reader).referral,
	"optin":                  (*reader).optin,
	"delivery":               (*reader).delivery,
	"read":                   (*reader).read,
	"account_linking":        (*reader).linking,
	"policy-enforcement":     (*reader).policy,
	"pass_thread_control":    handover("pass_thread_control"),
	"take_thread_control":    handover("take_thread_control"),
	"request_thread_control": handover("request_thread_control"),
	"app_roles":              handover("app_roles"),
}

// around are the members that say who and when, or that add to another member.
var around = map[string]bool{"sender": true, "recipient": true, "timestamp": true, "prior_message": true}

func (r *reader) item(v graph.Value, standby bool) {
	if !v.Object() {
		r.Reject("an item that is no object", v)
		return
	}
	in := &item{all: v, standby: standby}
	kind, known := "", false
	for name := range jsonscan.Members(v) {
		switch {
		case kinds[string(name)] != nil:
			known = true
		case !around[string(name)] && kind == "":
			kind = string(name)
		}
	}
	in.sender, in.recipient = v.Get("sender").Get("id").ID(), v.Get("recipient").Get("id").ID()
	in.at = v.Get("timestamp").Time()
	if !known {
		kind = cmp.Or(kind, "unknown")
		r.Report(r.itself(kind, in))
		return
	}
	for name, value := range jsonscan.Members(v) {
		if read := kinds[string(name)]; read != nil {
			read(r, in, value)
		}
	}
}

// change reports what happened on the page and not in a chat.
func (r *reader) change(v graph.Value) {
	kind := v.Get("field").Text()
	kind = cmp.Or(kind, "unknown")
	r.Raw(r.Key(kind, v), kind, v)
}

// contact returns the one of the two that is not the page. If the page wrote,
// the network does not always put it first.
func (r *reader) contact(in *item) provider.Address {
	if in.sender == "" || in.sender == r.NetworkID {
		return person(in.recipient)
	}
	return person(in.sender)
}

// made returns an id for an item that has none. An item without a time has the
// time of the entry, which differs when the network repeats it.
func (r *reader) made(kind string, in *item) string {
	same := r.Reader
	if !in.at.IsZero() {
		same.At = nil
	}
	return same.Key(kind, in.all)
}

// itself returns the original of the report of an item.
func (r *reader) itself(kind string, in *item) *provider.Raw {
	return &provider.Raw{ID: r.made(kind, in), Kind: kind, Body: json.RawMessage(in.all)}
}
