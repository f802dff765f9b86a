package compat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
)

// Format is the form of another project's webhooks.
type Format struct {
	// Name is how an endpoint asks for it: "cloud", "evolution", "waha", "wuzapi".
	Name string

	types   []messaging.EventType // of events that it has in some form
	has     func(*published) bool
	body    func(*published) any
	headers func(d Signed) http.Header // nil: none
}

// allTypes are those of the events that the formats of gateways have in some form.
var allTypes = []messaging.EventType{messaging.EventMessage, messaging.EventStatus, messaging.EventCalls, messaging.EventSession}

// Formats are all there are, by their names' order.
func Formats() []*Format { return []*Format{cloud, evolution, waha, wuzapi} }

// Find returns the format of a name, or nil.
func Find(name string) *Format {
	for _, f := range Formats() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Event is something that a receiver is to be told, with what its payload does
// not say.
type Event struct {
	ID        string    // the same in every repeat
	Type      string    // message, status, calls or session
	ChatID    string    // as the reference's network names it; "": from the payload's remoteJid
	At        time.Time // when it happened
	Payload   []byte    // of package messaging, by the type: MessagePayload, StatusPayload, CallPayload, SessionPayload
	URL       string    // where it goes
	Reference Reference
	// Actor wrote the message, when it is the account's own; "": unknown, and
	// taken for a program.
	Actor messaging.Actor
	// QR is the code that links the reference now, for a session that is PAIRING;
	// nil: there is none at the moment.
	QR          *messaging.QR
	PairingCode string // likewise
}

// Reference is what receivers are told of the reference of an event.
type Reference struct {
	ID      string
	Name    string // what they call the instance or the session
	Self    string // who the reference speaks for: "16505550100@s.whatsapp.net"; "": unknown
	Profile string // the name of that account, or ""
	BaseURL string // where the server is reached, without a slash at the end
	// Number and Business are the Cloud API's ids of the number and of its account;
	// "": the ID of the reference.
	Number, Business string
}

// Has says whether the format has something like an event of this type with
// this payload; without one, whether it has any event of the type.
func (f *Format) Has(eventType string, payload []byte) bool {
	if payload == nil {
		return slices.Contains(f.types, messaging.EventType(eventType))
	}
	t, err := read(Event{Type: eventType, Payload: payload})
	return err == nil && f.has(t)
}

// Body is the JSON of an event in this format. It fails for an event that the
// format does not have, and for a payload that is none of its type.
func (f *Format) Body(ev Event) ([]byte, error) {
	t, err := read(ev)
	if err != nil {
		return nil, err
	}
	if !f.has(t) {
		return nil, fmt.Errorf("compat: %s has no event like this one of type %q", f.Name, ev.Type)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // as they do
	if err := enc.Encode(f.body(t)); err != nil {
		return nil, fmt.Errorf("compat: writing an event for %s: %w", f.Name, err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Signed is what the headers of a request are made of.
type Signed struct {
	ID   string    // of the event
	Body []byte    // as it is sent
	Key  []byte    // that the receiver knows too; nil: there is no signature
	At   time.Time // of the attempt
}

// Headers are those that this format has beside the usual ones, its signature
// among them; nil where it has none.
func (f *Format) Headers(s Signed) http.Header {
	if f.headers == nil {
		return nil
	}
	return f.headers(s)
}
