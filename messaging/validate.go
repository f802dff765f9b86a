package messaging

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (

	// maxNameLength is the most bytes of a name that is kept.
	maxNameLength = 512
	// maxKindLength is the most bytes of the kind of a raw event that is kept.
	maxKindLength = 100
)

// validateEvent makes an inbound event fit for storing. What no table could hold becomes a
// dead letter, so that it costs its neighbours nothing.
func validateEvent(a inboundEvent) inboundEvent {
	switch e := a.event.(type) {
	case *provider.Message:
		return a.validateMessage(*e)
	case *provider.StatusChange:
		return a.validateStatus(*e)
	case nil:
	default:
		a.event = validateReport(e)
	}
	if a.bad != nil {
		a.bad = &provider.Bad{Reason: store.Sanitize(a.bad.Reason), Body: sanitizeJSON(a.bad.Body)}
	}
	return a
}

func (a inboundEvent) validateMessage(m provider.Message) inboundEvent {
	m.ID, m.ReplyTo, m.Edits = store.Sanitize(m.ID), store.Sanitize(m.ReplyTo), store.Sanitize(m.Edits)
	m.Chat, m.From = sanitizeAddress(m.Chat), sanitizeContact(m.From)
	m.Content = sanitizeContent(m.Content)
	if m.Referral != nil {
		r := *m.Referral
		if r.Body = sanitizeJSON(r.Body); !json.Valid(r.Body) {
			r.Body = nil
		}
		m.Referral = &r
	}
	if m.OwnID, m.App = store.Sanitize(m.OwnID), store.Sanitize(m.App); len(m.OwnID) > render.MaxTextLength {
		m.OwnID = ""
	}
	m.At, m.WindowUntil = validateTime(m.At), validateTime(m.WindowUntil)
	switch {
	case !named(m.ID):
		return a.reject("a message id must have 1 to 512 bytes", m)
	case !named(m.Chat.ChatID):
		return a.reject("a chat id must have 1 to 512 bytes", m)
	}
	body, err := payload.Encode(bodyOf(&m))
	if err != nil {
		return a.reject("the content cannot be stored", m)
	}
	a.event, a.body = &m, store.Sanitize(string(store.WithoutNUL(body)))
	return a
}

func (a inboundEvent) validateStatus(s provider.StatusChange) inboundEvent {
	s.MessageID, s.OwnID, s.To = store.Sanitize(s.MessageID), store.Sanitize(s.OwnID), sanitizeAddress(s.To)
	s.At, s.UpTo, s.WindowUntil = validateTime(s.At), validateTime(s.UpTo), validateTime(s.WindowUntil)
	if !named(s.To.ChatID) {
		s.To = provider.Address{}
	}
	if s.Error != nil {
		s.Error = new(provider.Failure(store.FailureOf(*s.Error)))
	}
	switch {
	case isWatermark(&s) && (s.UpTo.IsZero() || s.To.ChatID == ""), len(s.MessageID) > render.MaxTextLength, len(s.OwnID) > render.MaxTextLength:
		return a.reject("a status must name a message by 1 to 512 bytes, or a chat and a time", s)
	case s.Status < provider.StatusPending || s.Status > provider.StatusPlayed:
		return a.reject("a status must be one of those that messages have", s)
	}
	a.event = &s
	return a
}

// reject turns an inbound event into a dead letter.
func (a inboundEvent) reject(reason string, v any) inboundEvent {
	body, err := json.Marshal(v)
	if err != nil {
		body = payload.MustEncode(store.Sanitize(fmt.Sprintf("%+v", v)))
	}
	a.event, a.bad = nil, &provider.Bad{Reason: reason, Body: body}
	return a
}

// truncate shortens s to at most n bytes of whole characters.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func sanitizeJSON(b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return json.RawMessage(store.Sanitize(string(b)))
}

// sanitizeAddress also forgets names that no index could hold; only the chat id
// is indispensable.
func sanitizeAddress(a provider.Address) provider.Address {
	name := func(s string) string {
		if s = store.Sanitize(s); len(s) > render.MaxTextLength {
			return ""
		}
		return s
	}
	return provider.Address{ChatID: store.Sanitize(a.ChatID), Group: a.Group, Phone: name(a.Phone), UserID: name(a.UserID), PSID: name(a.PSID), LID: name(a.LID)}
}

func sanitizeContact(c provider.Contact) provider.Contact {
	return provider.Contact{
		Address: sanitizeAddress(c.Address), Name: truncate(store.Sanitize(c.Name), maxNameLength),
		VerifiedBizName: truncate(store.Sanitize(c.VerifiedBizName), maxNameLength), Username: truncate(store.Sanitize(c.Username), maxNameLength),
	}
}

// sanitizeContent cleans what is used of a content beyond the body that it makes,
// which is clean itself, and text, which is nearly all.
func sanitizeContent(c provider.Content) provider.Content {
	switch v := c.(type) {
	case nil:
		return provider.Unknown{}
	case provider.Text:
		v.Text = store.Sanitize(v.Text)
		return v
	case provider.Unknown:
		v.Kind, v.Body = store.Sanitize(v.Kind), sanitizeJSON(v.Body)
		return v
	case provider.Media:
		v.ID, v.URL, v.MIME, v.FileName = store.Sanitize(v.ID), store.Sanitize(v.URL), store.Sanitize(v.MIME), store.Sanitize(v.FileName)
		return v
	}
	return c
}
