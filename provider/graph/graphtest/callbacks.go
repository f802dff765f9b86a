package graphtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"
)

// Inbound is a message that a contact writes: a text, or another type with the
// body that Meta's API has for it.
//
//	id := fake.Files.Put("", "image/png", data)
//	fake.Write(ctx, graphtest.Inbound{From: "16505551234", Type: "image", Body: map[string]any{"id": id, "mime_type": "image/png"}})
type Inbound struct {
	Number    string    // phone number id; "": the firstnumber
	From      string    // phone number; "" with a UserID: the contact hides it
	UserID    string    // business-scoped user id, or ""
	Name      string    // of the profile; "": none
	Username  string    // of the profile; "": none
	Group     string    // group id, or ""
	ID        string    // "": a new one
	ReplyTo   string    // id of the quoted message, or ""
	Forwarded bool      //
	At        time.Time // zero: now
	Text      string
	Type      string // "image", "interactive", "edit", "system", and so on; "": a text
	Body      any    // the value under the type's name
	Referral  any    // the advertisement that led to the chat; nil: none
	Errors    []any  // the errors that the network reports with it
}

// Write makes a contact write. It posts the callback until it is answered with
// 200 or ctx ends, and returns the message's id.
func (s *Server) Write(ctx context.Context, in Inbound) (id string, err error) {
	l, known := s.numberOf(in.Number)
	if !known {
		return "", fmt.Errorf("graphtest: no number %q", in.Number)
	}
	if in.ID == "" {
		in.ID = newID()
	}
	if in.At.IsZero() {
		in.At = s.opts.Now()
	}
	s.record(func() {
		s.taken[in.ID] = Message{ID: in.ID, Owner: l.PhoneNumberID, Type: defaulted(in.Type, "text"), Text: in.Text, At: in.At}
		for _, contact := range []string{in.From, in.UserID, in.Group} {
			if contact != "" {
				s.wrote[l.PhoneNumberID+"/"+contact] = in.At
			}
		}
	})
	return in.ID, s.PostChange(ctx, l.PhoneNumberID, "messages", map[string]any{
		"contacts": []any{in.contact()},
		"messages": []any{in.message()},
	})
}

func (in *Inbound) contact() map[string]any {
	profile := map[string]any{}
	put(profile, "name", in.Name)
	put(profile, "username", in.Username)
	contact := map[string]any{"profile": profile}
	put(contact, "wa_id", in.From)
	put(contact, "user_id", in.UserID)
	return contact
}

func (in *Inbound) message() map[string]any {
	m := in.stated()
	put(m, "from", in.From)
	put(m, "from_user_id", in.UserID)
	put(m, "group_id", in.Group)
	quoted := map[string]any{}
	put(quoted, "id", in.ReplyTo)
	if in.Forwarded {
		quoted["forwarded"] = true
	}
	if len(quoted) > 0 {
		m["context"] = quoted
	}
	if in.Referral != nil {
		m["referral"] = in.Referral
	}
	return m
}

// stated returns the message without its sender.
func (in *Inbound) stated() map[string]any {
	m := map[string]any{
		"id":        in.ID,
		"timestamp": strconv.FormatInt(in.At.Unix(), 10),
		"type":      defaulted(in.Type, "text"),
	}
	switch {
	case in.Type == "" || in.Type == "text":
		m["text"] = map[string]string{"body": in.Text}
	case in.Body != nil:
		m[in.Type] = in.Body
	}
	if in.Errors != nil {
		m["errors"] = in.Errors
	}
	return m
}

// Echo makes a person write to the contact of in with the app on the number's
// phone, and posts that as [Server.Write] does.
func (s *Server) Echo(ctx context.Context, in Inbound) (id string, err error) {
	l, known := s.numberOf(in.Number)
	if !known {
		return "", fmt.Errorf("graphtest: no number %q", in.Number)
	}
	in.ID = defaulted(in.ID, newID())
	if in.At.IsZero() {
		in.At = s.opts.Now()
	}
	m := in.stated()
	m["from"] = l.number()
	put(m, "to", in.From)
	put(m, "to_user_id", in.UserID)
	return in.ID, s.PostChange(ctx, l.PhoneNumberID, "smb_message_echoes", map[string]any{"message_echoes": []any{m}})
}

// number returns the phone number in digits.
func (l *Number) number() string { return digitsOf(defaulted(l.DisplayNumber, "15550783881")) }

// Status posts a status of a message that was accepted, as [Server.Write] does.
// For "failed", a code may be given.
func (s *Server) Status(ctx context.Context, messageID, status string, code int) error {
	s.mu.Lock()
	m, known := s.taken[messageID]
	s.mu.Unlock()
	if !known || m.To == "" {
		return fmt.Errorf("graphtest: no message %q was taken", messageID)
	}
	return s.PostChange(ctx, m.Owner, "messages", m.status(status, code, s.opts.Now()))
}

// status returns the callback's form of a message's status.
func (m *Message) status(status string, code int, now time.Time) map[string]any {
	st := map[string]any{
		"id":        m.ID,
		"status":    status,
		"timestamp": strconv.FormatInt(now.Unix(), 10),
	}
	switch {
	case m.Group:
		st["recipient_type"], st["recipient_id"] = group, m.To
	case scopedID.MatchString(m.To):
		st["recipient_user_id"] = m.To
	default:
		st["recipient_id"] = m.To
	}
	put(st, "biz_opaque_callback_data", m.CallbackData)
	if code != 0 {
		title := "(#" + strconv.Itoa(code) + ") as the test wants"
		st["errors"] = []any{map[string]any{
			"code": code, "title": title, "message": title,
			"error_data": map[string]string{"details": "The message was not delivered."},
			"href":       "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/",
		}}
	}
	return map[string]any{"statuses": []any{st}}
}

// follow posts the automatic statuses in order.
func (s *Server) follow(l Number, m Message) {
	if len(s.opts.Statuses) == 0 {
		return
	}
	s.post.queue(func(ctx context.Context) {
		for _, status := range s.opts.Statuses {
			if err := s.PostChange(ctx, l.PhoneNumberID, "messages", m.status(status, 0, s.opts.Now())); err != nil {
				return // the server was closed
			}
		}
	})
}

// PostChange posts a change of any field of a number, signed and repeated as by
// [Server.Write]. The value gets the number's metadata.
func (s *Server) PostChange(ctx context.Context, number, field string, value map[string]any) error {
	l, known := s.numberOf(number)
	if !known {
		return fmt.Errorf("graphtest: no number %q", number)
	}
	value = maps.Clone(value)
	value["messaging_product"] = "whatsapp"
	value["metadata"] = map[string]string{"display_phone_number": l.number(), "phone_number_id": l.PhoneNumberID}
	return s.postEntry(ctx, l, map[string]any{}, field, value)
}

// PostAccountChange posts a change of the business account above a number. It has
// a time, and does not name a number.
func (s *Server) PostAccountChange(ctx context.Context, number, field string, value map[string]any) error {
	l, known := s.numberOf(number)
	if !known {
		return fmt.Errorf("graphtest: no number %q", number)
	}
	return s.postEntry(ctx, l, map[string]any{"time": s.opts.Now().Unix()}, field, value)
}

func (s *Server) postEntry(ctx context.Context, l Number, entry map[string]any, field string, value map[string]any) error {
	entry["id"] = l.BusinessAccountID
	entry["changes"] = []any{map[string]any{"value": value, "field": field}}
	return s.Post(ctx, l.PhoneNumberID, wire(map[string]any{"object": "whatsapp_business_account", "entry": []any{entry}}))
}

// Post signs body with the number's secret and posts it until it is answered with
// 200 or ctx ends. Without a callback, it waits for one.
func (s *Server) Post(ctx context.Context, number string, body []byte) error {
	l, known := s.numberOf(number)
	if !known {
		return fmt.Errorf("graphtest: no number %q", number)
	}
	s.mu.Lock()
	own := s.accounts.subscribed[l.BusinessAccountID].url
	s.mu.Unlock()
	return s.post.deliver(ctx, own, l.AppSecret, body)
}

// Handshake sends the callback a challenge with the verify token of the number or
// page. It returns nil if the answer is correct.
func (s *Server) Handshake(ctx context.Context, number string) error {
	l, known := s.numberOf(number)
	p, is := s.Pages.find(number)
	if !known && !is {
		return fmt.Errorf("graphtest: no number and no page %q", number)
	}
	return s.post.handshake(ctx, s.post.address(), cmp.Or(l.VerifyToken, p.VerifyToken))
}

func put(m map[string]any, name, value string) {
	if value != "" {
		m[name] = value
	}
}

func digitsOf(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			out = append(out, s[i])
		}
	}
	return string(out)
}
