package sandbox

import (
	"cmp"
	"context"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// Phone is a simulated contact of one reference.
type Phone struct {
	Inbox     provider.Inbox // the messaging service
	Reference provider.ReferenceID
	Name      string   // as in the chat id: "ana" writes from ana@sandbox
	PushName  string   // the name that the contact shows; "": Name
	Group     string   // chat id of the group in which the contact writes; "": none
	Reads     []string // ids of the messages that the contact reads before it writes
}

// Write makes the contact write a message and returns its id. A [provider.Edit]
// replaces the text of one of the contact's messages, a [provider.Revoke]
// deletes one for all participants. The contact has read p.Reads before. All of it is
// durable when Write returns.
func (p Phone) Write(ctx context.Context, content provider.Content) (string, error) {
	addr, err := (*Provider)(nil).Address(p.Name)
	if err != nil {
		return "", err
	}
	shown := p.PushName
	shown = cmp.Or(shown, p.Name)
	chat := addr
	if p.Group != "" {
		if chat, err = (*Provider)(nil).Address(p.Group); err != nil {
			return "", err
		}
	}
	var edits string
	if edit, is := content.(provider.Edit); is {
		edits, content = edit.MessageID, provider.Text{Text: edit.Text}
	}
	m := &provider.Message{
		ID: (*Provider)(nil).NewMessageID(), Chat: chat, From: provider.Contact{Address: addr, Name: shown}, At: time.Now(), Content: content, Edits: edits,
	}
	events := make([]provider.Event, 0, len(p.Reads)+1)
	for _, id := range p.Reads {
		events = append(events, readNow(id))
	}
	return m.ID, p.Inbox.Receive(ctx, p.Reference, append(events, m))
}

// readNow is what the network reports when a contact reads a message.
func readNow(messageID string) provider.Event {
	return &provider.StatusChange{MessageID: messageID, Status: provider.StatusRead, At: time.Now()}
}

// Read makes the contact read a message that it received.
func (p Phone) Read(ctx context.Context, messageID string) error {
	return p.Inbox.Receive(ctx, p.Reference, []provider.Event{readNow(messageID)})
}
