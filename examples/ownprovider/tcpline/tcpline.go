// Package tcpline is a custom kind of line, for a gateway that exchanges lines of
// JSON over TCP. Each side numbers its messages and repeats them until the other
// side acknowledges them:
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

// Kind is the kind of these references.
const Kind provider.Kind = "provider-tcp"

// frame is one line of the protocol.
type frame struct {
	ID    string `json:"id,omitempty"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Text  string `json:"text,omitempty"`
	Ack   string `json:"ack,omitempty"`
	Error string `json:"error,omitempty"` // why the frame in Ack was refused
}

var name = regexp.MustCompile(`^[a-z0-9]{1,32}$`)

// Provider opens references. The zero value is ready to use.
type Provider struct{}

// Optional interfaces: a reference connects, and it chooses the ids of its messages. The
// gateway accepts each id once, so that a send whose answer was lost can be
// repeated.
var (
	_ provider.Connector  = Provider{}
	_ provider.Identifier = Provider{}
)

// Kind returns [Kind].
func (Provider) Kind() provider.Kind { return Kind }

// Capabilities returns what a gateway can do: send texts.
func (Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Send: []string{"text"}}
}

// Settings returns the settings of a reference.
func (Provider) Settings() []provider.Setting {
	return []provider.Setting{{Name: "gateway", Doc: "Address of the gateway, as host:port.", Required: true}}
}

// Address parses a contact's name: 1 to 32 letters and digits.
func (Provider) Address(chatID string) (provider.Address, error) {
	id := strings.ToLower(strings.TrimSpace(chatID))
	if !name.MatchString(id) {
		return provider.Address{}, &provider.BadRecipient{Message: "a name has 1 to 32 letters and digits"}
	}
	return provider.Address{ChatID: id}, nil
}

// NewMessageID returns the id of a new message.
func (Provider) NewMessageID() string { return "tcp-" + rand.Text() }

// Open starts to connect.
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

// Forget does nothing: these references store nothing.
func (Provider) Forget(context.Context, provider.ReferenceID) error { return nil }
