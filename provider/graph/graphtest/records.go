package graphtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Request is a request that the fake received.
type Request struct {
	Method string
	Path   string // after the version, with the query
	Body   json.RawMessage
	Status int // of the answer; 0: there was none
	At     time.Time
}

// Message is a message that the fake accepted, as the contact's phone has it.
type Message struct {
	ID           string
	Owner        string // phone number id, or id of a page
	From         string // of a message that a person wrote to a page
	To           string // phone number, business-scoped user id, or with Group the id of a group
	Group        bool
	Type         string
	Text         string          // of a text; the caption or body of another type
	FileID       string          // of an uploaded file
	FileLink     string          // of a file with a link
	Template     string          // name of a template
	ReplyTo      string          // id of the quoted message, or ""
	CallbackData string          // biz_opaque_callback_data; of a page's, its metadata
	Body         json.RawMessage // the request
	At           time.Time
}

// Requests returns all requests in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// WaitRequest waits until a request has been made for which ok returns true.
func (s *Server) WaitRequest(ctx context.Context, ok func(Request) bool) error {
	return s.until(ctx, func() bool { return slices.ContainsFunc(s.requests, ok) })
}

// Shown returns the messages on the contact's phone, in order; "": of all
// contacts.
func (s *Server) Shown(contact string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shownTo(contact)
}

// WaitShown waits until the contact's phone shows at least n messages. If ctx
// ends first, the error says how many there are.
func (s *Server) WaitShown(ctx context.Context, contact string, n int) ([]Message, error) {
	var shown []Message
	err := s.until(ctx, func() bool {
		shown = s.shownTo(contact)
		return len(shown) >= n
	})
	if err != nil {
		return shown, fmt.Errorf("graphtest: %d of %d messages shown: %w", len(shown), n, err)
	}
	return shown, nil
}

// Read reports whether the message with an id was marked as read.
func (s *Server) Read(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read[id]
}

// WaitRead waits until the message with an id is marked as read.
func (s *Server) WaitRead(ctx context.Context, id string) error {
	return s.until(ctx, func() bool { return s.read[id] })
}

// Subscribed reports whether the app is subscribed to the business account.
func (s *Server) Subscribed(businessAccountID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.accounts.subscribed[businessAccountID]
	return ok
}

// Override returns the callback address of the business account, or "".
func (s *Server) Override(businessAccountID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accounts.subscribed[businessAccountID].url
}

func (s *Server) shownTo(contact string) []Message {
	var shown []Message
	for _, m := range s.shown {
		if contact == "" || m.To == contact {
			shown = append(shown, m)
		}
	}
	return shown
}
