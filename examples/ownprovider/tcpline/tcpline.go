// Package tcpline is a kind of line of one's own: a gateway that is spoken to in
// lines of JSON over TCP. Each side numbers what it says and repeats it until
// the other has acknowledged it:
//
//	gateway: {"id":"7","from":"ana","text":"Hello"}
//	line:    {"ack":"7"}
//	line:    {"id":"tcp-1","to":"ana","text":"Hi Ana"}
//	gateway: {"ack":"tcp-1"}            or {"ack":"tcp-1","error":"unknown"}
package tcpline

import (
	"context"
	"crypto/rand"
	"fmt"
	"regexp"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// Kind is the kind of these lines.
const Kind provider.Kind = "provider-tcp"

// frame is what is said in one line.
type frame struct {
	ID    string `json:"id,omitempty"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Text  string `json:"text,omitempty"`
	Ack   string `json:"ack,omitempty"`
	Error string `json:"error,omitempty"` // why what Ack names was not taken
}

var name = regexp.MustCompile(`^[a-z0-9]{1,32}$`)

// Provider opens lines. The zero value is ready to use.
type Provider struct{}

// It connects, and it chooses the ids of what it sends: a gateway takes those
// once, so that a send whose answer was lost can be repeated.
var (
	_ provider.Connector  = Provider{}
	_ provider.Identifier = Provider{}
)

// Kind returns [Kind].
func (Provider) Kind() provider.Kind { return Kind }

// Capabilities lists what a gateway can do: texts.
func (Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Send: []string{"text"}}
}

// Settings names what a line is configured with.
func (Provider) Settings() []provider.Setting {
	return []provider.Setting{{Name: "gateway", Doc: "Address of the gateway, as host:port.", Required: true}}
}

// Address reads a contact's name: 1 to 32 letters and digits.
func (Provider) Address(chatID string) (provider.Address, error) {
	id := strings.ToLower(strings.TrimSpace(chatID))
	if !name.MatchString(id) {
		return provider.Address{}, &provider.BadRecipient{Message: "a name has 1 to 32 letters and digits"}
	}
	return provider.Address{ChatID: id}, nil
}

// NewMessageID chooses the id of a message to send.
func (Provider) NewMessageID() string { return "tcp-" + rand.Text() }

// Open begins to connect.
func (Provider) Open(ctx context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	gateway := ref.Settings["gateway"]
	if gateway == "" {
		return nil, fmt.Errorf("tcpline: the setting gateway is missing")
	}
	s := &session{
		ref: ref, gateway: gateway, inbox: inbox,
		links: make(chan *link, 1), acks: map[string]chan frame{}, done: make(chan struct{}),
	}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	go s.run()
	return s, nil
}

// Forget has nothing to delete: these lines keep nothing.
func (Provider) Forget(context.Context, provider.ReferenceID) error { return nil }
