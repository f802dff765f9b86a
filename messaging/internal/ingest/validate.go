package ingest

import (
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Validate makes an inbound event fit for storing. What no table could hold becomes a
// dead letter, so that it costs its neighbours nothing.
func Validate(a Event) Event {
	switch e := a.Event.(type) {
	case *provider.Message:
		return a.validateMessage(*e)
	case *provider.StatusChange:
		return a.validateStatus(*e)
	case nil:
	default:
		a.Event = validateReport(e)
	}
	if a.Bad != nil {
		a.Bad = &provider.Bad{Reason: text.Sanitize(a.Bad.Reason), Body: sanitize.JSON(a.Bad.Body)}
		a.Part.Body = sanitize.JSON(a.Part.Body)
	}
	return a
}

func (a Event) validateMessage(m provider.Message) Event {
	m.ID, m.ReplyTo, m.Edits = text.Sanitize(m.ID), text.Sanitize(m.ReplyTo), text.Sanitize(m.Edits)
	m.Chat, m.From = sanitize.Address(m.Chat), sanitize.Contact(m.From)
	m.Content = sanitize.Content(m.Content)
	if m.Referral != nil {
		r := *m.Referral
		if r.Body = sanitize.JSON(r.Body); !json.Valid(r.Body) {
			r.Body = nil
		}
		m.Referral = &r
	}
	if m.OwnID, m.App = text.Sanitize(m.OwnID), text.Sanitize(m.App); len(m.OwnID) > render.MaxTextLength {
		m.OwnID = ""
	}
	m.At, m.WindowUntil = sanitize.Time(m.At), sanitize.Time(m.WindowUntil)
	switch {
	case !sanitize.IsName(m.ID):
		return a.reject("a message id must have 1 to 512 bytes", m)
	case !sanitize.IsName(m.Chat.ChatID):
		return a.reject("a chat id must have 1 to 512 bytes", m)
	}
	body, err := payload.Encode(bodyOf(&m))
	if err != nil {
		return a.reject("the content cannot be stored", m)
	}
	a.Event, a.body = &m, text.Sanitize(string(jsonscan.WithoutNUL(body)))
	return a
}

func (a Event) validateStatus(s provider.StatusChange) Event {
	s.MessageID, s.OwnID, s.To = text.Sanitize(s.MessageID), text.Sanitize(s.OwnID), sanitize.Address(s.To)
	s.At, s.UpTo, s.WindowUntil = sanitize.Time(s.At), sanitize.Time(s.UpTo), sanitize.Time(s.WindowUntil)
	if !sanitize.IsName(s.To.ChatID) {
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
	a.Event = &s
	return a
}

// reject turns an inbound event into a dead letter.
func (a Event) reject(reason string, v any) Event {
	body, err := json.Marshal(v)
	if err != nil {
		body = payload.MustEncode(text.Sanitize(fmt.Sprintf("%+v", v)))
	}
	a.Event, a.Bad = nil, &provider.Bad{Reason: reason, Body: body}
	a.Part.Body = sanitize.JSON(a.Part.Body)
	return a
}
