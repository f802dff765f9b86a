package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"sync/atomic"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// ErrClosed is why a closed session sends nothing.
var ErrClosed = errors.New("cloud: the session is closed")

type session struct {
	graph  *graph.Client
	phone  string // id of the phone number
	waba   string // id of the business account
	log    *slog.Logger
	closed atomic.Bool
}

var (
	_ provider.Checker = (*session)(nil)
	_ provider.Reader  = (*session)(nil)
)

// Close makes the session refuse further calls; those under way finish.
func (s *session) Close(context.Context) error {
	s.closed.Store(true)
	return nil
}

// answer is what the network says to a send.
type answer struct {
	Contacts []struct {
		WaID   graph.ID `json:"wa_id"`
		UserID graph.ID `json:"user_id"`
	} `json:"contacts"`
	Messages []struct {
		ID graph.ID `json:"id"`
	} `json:"messages"`
}

// Send posts one message.
func (s *session) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	if s.closed.Load() {
		return provider.Receipt{}, &provider.Temporary{Err: ErrClosed}
	}
	body, err := compose(out)
	if err != nil {
		return provider.Receipt{}, err
	}
	var a answer
	if err := s.graph.Post(ctx, s.messages(), body, &a); err != nil {
		s.trace(ctx, err)
		return provider.Receipt{}, graph.SendError(err)
	}
	if len(a.Messages) == 0 || a.Messages[0].ID == "" {
		return provider.Receipt{}, &provider.Ambiguous{Err: errors.New("cloud: the answer to a send names no message")}
	}
	return provider.Receipt{MessageID: string(a.Messages[0].ID), To: a.contact()}, nil
}

func (a *answer) contact() *provider.Address {
	if len(a.Contacts) == 0 {
		return nil
	}
	to := person(string(a.Contacts[0].UserID), string(a.Contacts[0].WaID))
	if to.ChatID == "" {
		return nil
	}
	return &to
}

// Check reads the phone number, which proves that the token may, and
// subscribes the app to the account's events: without that no callback comes,
// whatever the app's dashboard says.
func (s *session) Check(ctx context.Context) (provider.Account, error) {
	if s.closed.Load() {
		return provider.Account{}, &provider.Temporary{Err: ErrClosed}
	}
	var number struct {
		ID       graph.ID `json:"id"`
		Display  string   `json:"display_phone_number"`
		Verified string   `json:"verified_name"`
	}
	fields := url.Values{"fields": {"id,display_phone_number,verified_name,quality_rating,code_verification_status"}}
	if err := s.graph.Get(ctx, s.phone, fields, &number); err != nil {
		return provider.Account{}, s.failed(ctx, "reading the phone number", err)
	}
	if string(number.ID) != s.phone {
		return provider.Account{}, &provider.Rejected{Message: "the network answered for another phone number than " + s.phone}
	}
	var done struct {
		Success json.RawMessage `json:"success"` // true, or "true"
	}
	if err := s.graph.Post(ctx, s.waba+"/subscribed_apps", nil, &done); err != nil {
		return provider.Account{}, s.failed(ctx, "subscribing to the business account", err)
	}
	if !success(done.Success) {
		return provider.Account{}, &provider.Rejected{Message: "the network did not subscribe the app to the business account " + s.waba}
	}
	return provider.Account{ID: s.phone, Name: number.Display, VerifiedBizName: number.Verified}, nil
}

// MarkRead tells the contact that the message, and those before it, were read.
func (s *session) MarkRead(ctx context.Context, _ provider.Address, messageID string) error {
	if s.closed.Load() {
		return &provider.Temporary{Err: ErrClosed}
	}
	body := struct {
		Product   string `json:"messaging_product"`
		Status    string `json:"status"`
		MessageID string `json:"message_id"`
	}{product, "read", messageID}
	if err := s.graph.Post(ctx, s.messages(), body, nil); err != nil {
		return s.failed(ctx, "marking a message read", err)
	}
	return nil
}

func (s *session) messages() string { return s.phone + "/messages" }

func (s *session) failed(ctx context.Context, doing string, err error) error {
	s.trace(ctx, err)
	return fmt.Errorf("cloud: %s: %w", doing, graph.CallError(err))
}

// trace logs by what name Meta's support finds a refused request; the error
// that goes to the caller is for users and has no room for it.
func (s *session) trace(ctx context.Context, err error) {
	if e, ok := errors.AsType[*graph.Error](err); ok {
		s.log.InfoContext(ctx, "graph refused a request", slog.Int("code", e.Code), slog.Int("subcode", e.Subcode),
			slog.Int("http_status", e.HTTPStatus), slog.String("fbtrace_id", e.FBTraceID))
	}
}

func success(raw json.RawMessage) bool {
	text, err := strconv.Unquote(string(raw))
	if err != nil {
		text = string(raw)
	}
	return text == "true"
}
