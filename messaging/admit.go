package messaging

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	// longest is the most bytes of an id that a network may give: indexes have
	// limits, and no network comes near it.
	longest = 512
	// longestName is the most bytes of a name that is kept.
	longestName = 512
	// longestKind is the most bytes of the kind of a raw event that is kept.
	longestKind = 100
)

// admit makes an arrival fit for storing. What no table could hold becomes a
// dead letter, so that it costs its neighbours nothing.
func admit(a arrival) arrival {
	switch e := a.event.(type) {
	case *provider.Message:
		return a.admitMessage(*e)
	case *provider.StatusChange:
		return a.admitStatus(*e)
	case nil:
	default:
		a.event = admitReport(e)
	}
	if a.bad != nil {
		a.bad = &provider.Bad{Reason: clean(a.bad.Reason), Body: cleanJSON(a.bad.Body)}
	}
	return a
}

func (a arrival) admitMessage(m provider.Message) arrival {
	m.ID, m.ReplyTo, m.Edits = clean(m.ID), clean(m.ReplyTo), clean(m.Edits)
	m.Chat, m.From = cleanAddress(m.Chat), cleanContact(m.From)
	m.Content = cleanContent(m.Content)
	if m.Referral != nil {
		r := *m.Referral
		if r.Body = cleanJSON(r.Body); !json.Valid(r.Body) {
			r.Body = nil
		}
		m.Referral = &r
	}
	if m.OwnID, m.App = clean(m.OwnID), clean(m.App); len(m.OwnID) > longest {
		m.OwnID = ""
	}
	m.At, m.WindowUntil = admitTime(m.At), admitTime(m.WindowUntil)
	switch {
	case !named(m.ID):
		return a.refuse("a message id must have 1 to 512 bytes", m)
	case !named(m.Chat.ChatID):
		return a.refuse("a chat id must have 1 to 512 bytes", m)
	}
	body, err := encodeJSON(bodyOf(&m))
	if err != nil {
		return a.refuse("the content cannot be stored", m)
	}
	a.event, a.body = &m, clean(string(withoutNUL(body)))
	return a
}

func (a arrival) admitStatus(s provider.StatusChange) arrival {
	s.MessageID, s.OwnID, s.To = clean(s.MessageID), clean(s.OwnID), cleanAddress(s.To)
	s.At, s.UpTo, s.WindowUntil = admitTime(s.At), admitTime(s.UpTo), admitTime(s.WindowUntil)
	if !named(s.To.ChatID) {
		s.To = provider.Address{}
	}
	if s.Error != nil {
		s.Error = new(provider.Failure(failureOf(*s.Error)))
	}
	switch {
	case isMark(&s) && (s.UpTo.IsZero() || s.To.ChatID == ""), len(s.MessageID) > longest, len(s.OwnID) > longest:
		return a.refuse("a status must name a message by 1 to 512 bytes, or a chat and a time", s)
	case s.Status < provider.StatusPending || s.Status > provider.StatusPlayed:
		return a.refuse("a status must be one of those that messages have", s)
	}
	a.event = &s
	return a
}

// refuse turns an arrival into a dead letter.
func (a arrival) refuse(reason string, v any) arrival {
	body, err := json.Marshal(v)
	if err != nil {
		body = mustJSON(clean(fmt.Sprintf("%+v", v)))
	}
	a.event, a.bad = nil, &provider.Bad{Reason: reason, Body: body}
	return a
}

// clean drops what PostgreSQL cannot hold in text.
func clean(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// cut shortens s to at most n bytes of whole characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func cleanJSON(b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return json.RawMessage(clean(string(b)))
}

// cleanAddress also forgets names that no index could hold; only the chat id
// is indispensable.
func cleanAddress(a provider.Address) provider.Address {
	name := func(s string) string {
		if s = clean(s); len(s) > longest {
			return ""
		}
		return s
	}
	return provider.Address{ChatID: clean(a.ChatID), Group: a.Group, Phone: name(a.Phone), UserID: name(a.UserID), PSID: name(a.PSID), LID: name(a.LID)}
}

func cleanContact(c provider.Contact) provider.Contact {
	return provider.Contact{
		Address: cleanAddress(c.Address), Name: cut(clean(c.Name), longestName),
		VerifiedBizName: cut(clean(c.VerifiedBizName), longestName), Username: cut(clean(c.Username), longestName),
	}
}

// cleanContent cleans what is used of a content beyond the body that it makes,
// which is clean itself, and text, which is nearly all.
func cleanContent(c provider.Content) provider.Content {
	switch v := c.(type) {
	case nil:
		return provider.Unknown{}
	case provider.Text:
		v.Text = clean(v.Text)
		return v
	case provider.Unknown:
		v.Kind, v.Body = clean(v.Kind), cleanJSON(v.Body)
		return v
	case provider.Media:
		v.ID, v.URL, v.MIME, v.FileName = clean(v.ID), clean(v.URL), clean(v.MIME), clean(v.FileName)
		return v
	}
	return c
}
