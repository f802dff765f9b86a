package messaging

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// view is the record of m in c.
func (m *messageRow) view(c *chatRow) Message {
	out := Message{Head: m.head(c), Details: m.details()}
	// A body is written by this package; one that cannot be read shows as empty text.
	_ = json.Unmarshal([]byte(m.Body), &out.Body)
	return out
}

func (m *messageRow) head(c *chatRow) Head {
	return Head{
		Reference: m.Reference, Ref: m.Reference, RemoteJID: c.address().RemoteJID(), ChatID: c.ChatID, Mine: m.Mine,
		ID: m.ID, RequestID: cmp.Or(m.RequestID, m.OwnID), ClientID: m.ClientID,
		PushName: m.PushName, VerifiedBizName: m.BizName, MessageTimestamp: payload.TimeOf(m.AtUS), Status: m.Status.String(),
	}
}

func (m *messageRow) details() Details {
	d := Details{Direction: "in", Actor: m.Actor, SentAs: m.SentAs, Error: m.failure()}
	if m.Mine {
		d.Direction = "out"
	}
	return d
}

func (m *messageRow) failure() *Failure {
	if m.ErrorCode == "" {
		return nil
	}
	return &Failure{Code: m.ErrorCode, Message: m.ErrorMessage, Advice: m.ErrorAdvice}
}

// fails notes why m failed, is in doubt or lacks its file.
func (m *messageRow) fails(why Failure) {
	m.ErrorCode, m.ErrorMessage, m.ErrorAdvice = why.Code, why.Message, why.Advice
}

// payload is the [MessagePayload] of m in JSON, with a head. The body is not
// decoded for it: this runs for every message, while its chat is locked. The
// error of a message that we sent ourselves and that did not fail is only for
// its record, unless it is about the file.
func (m *messageRow) payload(h Head) json.RawMessage {
	whole := payload.Join(payload.MustEncode(h), json.RawMessage(m.Body))
	if m.ErrorCode == "" || m.OwnID != "" && h.Status != provider.StatusFail.String() && !m.isMissingFile() {
		return whole
	}
	return payload.Join(whole, payload.MustEncode(payload.FileError{Error: m.failure()}))
}

// statusPayload is the [StatusPayload] of m, with a head, whose status was
// reached at a time.
func (m *messageRow) statusPayload(h Head, at time.Time) StatusPayload {
	p := StatusPayload{Head: h, At: UnixTime{Time: at}}
	if m.Status == provider.StatusFail {
		p.Error = m.failure()
	}
	return p
}

// record is the [Message] of m in JSON, whose head is given.
func (m *messageRow) record(head json.RawMessage) json.RawMessage {
	return payload.Join(payload.Join(head, json.RawMessage(m.Body)), payload.MustEncode(m.details()))
}

// bodyOf puts what a network delivered into the members of the interface.
func bodyOf(msg *provider.Message) Body {
	b := plainText(msg.Content)
	if msg.ReplyTo != "" || msg.Forwarded {
		b.Context = &Quote{MessageID: msg.ReplyTo, Forwarded: msg.Forwarded}
	}
	if msg.Edits != "" {
		b.Edited = &MessageRef{MessageID: msg.Edits}
	}
	if msg.Chat.Group && msg.From.ChatID != "" {
		b.Participant = &Participant{RemoteJID: msg.From.RemoteJID(), ChatID: msg.From.ChatID, PushName: msg.From.Name}
	}
	if msg.Referral != nil {
		b.Referral = msg.Referral.Body
	}
	return b
}
