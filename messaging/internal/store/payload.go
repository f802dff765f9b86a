package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// View is the record of m in c.
func (m *Message) View(c *Chat) payload.Message {
	out := payload.Message{Head: m.Head(c), Details: m.details()}
	// A body is written by this package; one that cannot be read shows as empty text.
	_ = json.Unmarshal([]byte(m.Body), &out.Body)
	return out
}

func (m *Message) Head(c *Chat) payload.Head {
	return payload.Head{
		Reference: m.Reference, Ref: m.Reference, RemoteJID: c.Address().RemoteJID(), ChatID: c.ChatID, Mine: m.Mine,
		ID: m.ID, RequestID: cmp.Or(m.RequestID, m.OwnID), ClientID: m.ClientID,
		PushName: m.PushName, VerifiedBizName: m.BizName, MessageTimestamp: payload.TimeOf(m.AtUS), Status: m.Status.String(),
	}
}

func (m *Message) details() payload.Details {
	d := payload.Details{Direction: "in", Actor: m.Actor, SentAs: m.SentAs, Error: m.Failure()}
	if m.Mine {
		d.Direction = "out"
	}
	return d
}

func (m *Message) Failure() *payload.Failure {
	if m.ErrorCode == "" {
		return nil
	}
	return &payload.Failure{Code: m.ErrorCode, Message: m.ErrorMessage, Advice: m.ErrorAdvice}
}

// SetFailure notes why m failed, is in doubt or lacks its file.
func (m *Message) SetFailure(why payload.Failure) {
	m.ErrorCode, m.ErrorMessage, m.ErrorAdvice = why.Code, why.Message, why.Advice
}

// Payload is the [MessagePayload] of m in JSON, with a head. The body is not
// decoded for it: this runs for every message, while its chat is locked. The
// error of a message that we sent ourselves and that did not fail is only for
// its record, unless it is about the file.
func (m *Message) Payload(h payload.Head) json.RawMessage {
	whole := payload.Join(payload.MustEncode(h), json.RawMessage(m.Body))
	if m.ErrorCode == "" || m.OwnID != "" && h.Status != provider.StatusFail.String() && !m.IsMissingFile() {
		return whole
	}
	return payload.Join(whole, payload.MustEncode(payload.FileError{Error: m.Failure()}))
}

// statusPayload is the [StatusPayload] of m, with a head, whose status was
// reached at a time.
func (m *Message) statusPayload(h payload.Head, at time.Time) payload.StatusPayload {
	p := payload.StatusPayload{Head: h, At: payload.UnixTime{Time: at}}
	if m.Status == provider.StatusFail {
		p.Error = m.Failure()
	}
	return p
}

// Record is the [Message] of m in JSON, whose head is given.
func (m *Message) Record(head json.RawMessage) json.RawMessage {
	return payload.Join(payload.Join(head, json.RawMessage(m.Body)), payload.MustEncode(m.details()))
}

// IsMissingFile says whether the error of a message is about its file.
func (m *Message) IsMissingFile() bool {
	return slices.Contains([]string{CodeMediaPending, CodeMediaUnavailable, CodeMediaMismatch, CodeMediaTooLarge}, m.ErrorCode)
}
