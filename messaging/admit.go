package messaging

import (
	"encoding/json"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// longest is the most bytes of an id that a network may give: indexes have
// limits, and no network comes near it.
const longest = 512

// admit makes an arrival fit for storing. What no table could hold becomes a
// dead letter, so that it costs its neighbours nothing.
func admit(a arrival) arrival {
	switch e := a.event.(type) {
	case *provider.Message:
		m := *e
		m.ID, m.ReplyTo = clean(m.ID), clean(m.ReplyTo)
		m.Chat, m.From = cleanAddress(m.Chat), cleanContact(m.From)
		m.Referral = cleanJSON(m.Referral)
		switch {
		case m.ID == "" || len(m.ID) > longest:
			return a.refuse("a message id must have 1 to 512 bytes", m)
		case m.Chat.ChatID == "" || len(m.Chat.ChatID) > longest:
			return a.refuse("a chat id must have 1 to 512 bytes", m)
		case m.Content == nil:
			m.Content = provider.Unknown{}
		}
		a.event = &m
	case *provider.StatusChange:
		s := *e
		s.MessageID, s.OwnID = clean(s.MessageID), clean(s.OwnID)
		if s.Error != nil {
			s.Error = &provider.Failure{Code: clean(s.Error.Code), Message: clean(s.Error.Message)}
		}
		if s.MessageID == "" && s.OwnID == "" || len(s.MessageID) > longest || len(s.OwnID) > longest {
			return a.refuse("a status must name a message by 1 to 512 bytes", s)
		}
		a.event = &s
	case *provider.Raw:
		r := *e
		r.Body, r.ID, r.Kind = cleanJSON(r.Body), clean(r.ID), clean(r.Kind)
		if r.ID == "" || len(r.ID) > longest {
			r.ID = digest(r.Body)
		}
		a.event = &r
	}
	if a.bad != nil {
		a.bad = &provider.Bad{Reason: clean(a.bad.Reason), Body: cleanJSON(a.bad.Body)}
	}
	return a
}

// refuse turns an arrival into a dead letter.
func (a arrival) refuse(reason string, v any) arrival {
	a.event, a.bad = nil, &provider.Bad{Reason: reason, Body: mustJSON(v)}
	return a
}

// clean drops what PostgreSQL cannot hold in text.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

func cleanJSON(b json.RawMessage) json.RawMessage {
	if b == nil {
		return nil
	}
	return json.RawMessage(clean(string(b)))
}

func cleanAddress(a provider.Address) provider.Address {
	return provider.Address{ChatID: clean(a.ChatID), Group: a.Group, Phone: clean(a.Phone), UserID: clean(a.UserID), LID: clean(a.LID)}
}

func cleanContact(c provider.Contact) provider.Contact {
	return provider.Contact{
		Address: cleanAddress(c.Address), Name: clean(c.Name), VerifiedBizName: clean(c.VerifiedBizName), Username: clean(c.Username),
	}
}
