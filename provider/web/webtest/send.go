package webtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// Outgoing is a message to send.
type Outgoing struct {
	To      types.JID // a person by number or LID, which is also how the receiver sees the sender, or a group
	Message *waE2E.Message
	ID      string    // "": a new one
	At      time.Time // zero: now
	// Damage is how many of the copies for linked devices cannot be decrypted.
	Damage int
}

// outgoing is a message that the phone can send again.
type outgoing struct {
	Outgoing
	damage int
	group  *group
}

// SendText sends a text: see [Phone.Send].
func (p *Phone) SendText(ctx context.Context, to types.JID, text string) (id string, err error) {
	return p.Send(ctx, Outgoing{To: to, Message: &waE2E.Message{Conversation: &text}})
}

// Send encrypts a message for each device of its recipients and for the
// sender's own linked devices. When it returns, the server has delivered or
// queued the message.
func (p *Phone) Send(ctx context.Context, out Outgoing) (id string, err error) {
	if out.Message == nil {
		return "", errors.New("webtest: the message is missing")
	}
	if out.ID == "" {
		out.ID = newMessageID()
	}
	o := &outgoing{Outgoing: out, damage: out.Damage}
	var n *node
	if out.To.Server == types.GroupServer {
		n, err = p.outbox.sealForGroup(ctx, o)
	} else {
		n, err = p.outbox.sealForPerson(ctx, o)
	}
	if err != nil {
		return "", fmt.Errorf("webtest: sending as %s: %w", p.jid, err)
	}
	p.s.deliveries(func(b *batch) {
		p.outbox.sent[out.ID] = o
		b.message(p.self, n)
	})
	return out.ID, nil
}

// newMessageID returns an id like those of phones.
func newMessageID() string {
	var raw [9]byte
	_, _ = rand.Read(raw[:]) // never fails
	return "3A" + strings.ToUpper(hex.EncodeToString(raw[:]))
}

func (o *outgoing) node(content []node) *node {
	a := attrs{"id": o.ID, "to": o.To, "type": kindOf(o.Message), "t": unix(o.At)}
	put(a, "edit", editOf(o.Message))
	return &node{Tag: "message", Attrs: a, Content: content}
}

// phoneOutbox encrypts and sends the messages of a phone. The server's lock
// guards it.
type phoneOutbox struct {
	p    *Phone
	sent map[string]*outgoing // for devices that cannot decrypt them, by id
}

// sealForPerson encrypts a message for the devices of a person, and for the
// linked devices of the phone itself.
func (ob *phoneOutbox) sealForPerson(ctx context.Context, o *outgoing) (*node, error) {
	ob.p.s.mu.Lock()
	other := ob.p.s.phone(o.To)
	var theirs, own []*Device
	if other != nil {
		own = ob.p.companions()
		if other != ob.p {
			theirs = other.everyDevice()
		}
	}
	ob.p.s.mu.Unlock()
	if other == nil {
		return nil, fmt.Errorf("%s has no account", o.To)
	}
	o.To = o.To.ToNonAD()
	to, err := ob.sealEach(ctx, o, theirs, o.Message)
	if err != nil {
		return nil, err
	}
	copies, err := ob.sealEach(ctx, o, own, o.ownCopy())
	if err != nil {
		return nil, err
	}
	return o.node([]node{{Tag: "participants", Content: append(to, copies...)}}), nil
}

// ownCopy returns what the sender's own devices get.
func (o *outgoing) ownCopy() *waE2E.Message {
	return &waE2E.Message{DeviceSentMessage: &waE2E.DeviceSentMessage{
		DestinationJID: proto.String(o.To.String()), Message: o.Message,
	}}
}

// sealEach encrypts a message for devices, and addresses them by number or LID
// as the message does.
func (ob *phoneOutbox) sealEach(ctx context.Context, o *outgoing, devices []*Device, m *waE2E.Message) ([]node, error) {
	plain, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	form := o.To
	if o.group != nil {
		form = o.group.form(ob.p)
	}
	var list []node
	for _, d := range devices {
		enc, err := ob.seal(ctx, d, plain)
		if err != nil {
			return nil, err
		}
		o.finish(d, &enc, m)
		list = append(list, node{Tag: "to", Attrs: attrs{"jid": d.phone.form(form, d.number)}, Content: []node{enc}})
	}
	return list, nil
}

// finish damages the copy of a linked device if the test wants it, and adds the
// kind of the file and that phones do not show a failure.
func (o *outgoing) finish(d *Device, enc *node, m *waE2E.Message) {
	if media := mediaOf(m); media != "" {
		enc.Attrs["mediatype"] = media
	}
	if hiddenOf(m) {
		enc.Attrs["decrypt-fail"] = "hide"
	}
	if sealed := body(*enc); o.damage > 0 && d.number > 0 {
		sealed[len(sealed)/2] ^= 1 // inside of the encrypted text
		o.damage--
	}
}

// seal encrypts for a device, with the device's public keys if there is no
// session yet.
func (ob *phoneOutbox) seal(ctx context.Context, d *Device, plain []byte) (node, error) {
	ob.p.lock.Lock()
	defer ob.p.lock.Unlock()
	to := d.LID()
	if ob.p.hasSession(ctx, to) {
		return ob.p.encrypt(ctx, to, plain, nil)
	}
	ob.p.s.mu.Lock()
	k, once := d.keys, d.takeOnce()
	ob.p.s.mu.Unlock()
	b, err := bundle(d.number, k.registration, k.identity, k.signed, once)
	if err != nil {
		return node{}, fmt.Errorf("%s: %w", to, err)
	}
	return ob.p.encrypt(ctx, to, plain, b)
}

// kindOf returns the network's type of a message.
func kindOf(m *waE2E.Message) string {
	switch {
	case m.GetReactionMessage() != nil:
		return "reaction"
	case m.GetPollCreationMessage() != nil, m.GetPollCreationMessageV3() != nil, m.GetPollUpdateMessage() != nil:
		return "poll"
	case mediaOf(m) != "":
		return "media"
	}
	return "text"
}

// hiddenOf reports whether phones do not show that a message could not be
// decrypted.
func hiddenOf(m *waE2E.Message) bool {
	if sent := m.GetDeviceSentMessage(); sent != nil {
		m = sent.GetMessage()
	}
	return m.GetReactionMessage() != nil || m.GetPollUpdateMessage() != nil || editOf(m) != ""
}

// mediaOf returns the kind of a message's file, or "".
func mediaOf(m *waE2E.Message) string {
	switch {
	case m.GetImageMessage() != nil:
		return "image"
	case m.GetVideoMessage() != nil:
		return "video"
	case m.GetAudioMessage().GetPTT():
		return "ptt"
	case m.GetAudioMessage() != nil:
		return "audio"
	case m.GetDocumentMessage() != nil:
		return "document"
	case m.GetStickerMessage() != nil:
		return "sticker"
	case m.GetContactMessage() != nil:
		return "vcard"
	}
	return ""
}

// editOf returns the attribute that says how a message changes another, or "".
func editOf(m *waE2E.Message) string {
	switch protocol := m.GetProtocolMessage(); {
	case m.GetEditedMessage() != nil:
		return string(types.EditAttributeMessageEdit)
	case protocol.GetType() == waE2E.ProtocolMessage_REVOKE && protocol.GetKey() != nil && protocol.GetKey().GetFromMe():
		return string(types.EditAttributeSenderRevoke)
	case protocol.GetType() == waE2E.ProtocolMessage_REVOKE && protocol.GetKey() != nil:
		return string(types.EditAttributeAdminRevoke)
	}
	return ""
}
