package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// answer returns the bot's answer to a text.
func answer(text string) string {
	text = strings.ToLower(text)
	switch {
	case strings.Contains(text, "open"), strings.Contains(text, "hours"):
		return "We are open from Monday to Friday, 9 to 18."
	case strings.Contains(text, "where"):
		return "You find us at Market Street 1."
	}
	return "Somebody will answer you soon."
}

// bot answers on references of the WhatsApp Cloud API, and on the sandbox in tests.
type bot struct{ chats *messaging.Service }

// newBot returns a bot that uses a database. graphURL is the address of the Graph
// API, "" is Meta's.
func newBot(ctx context.Context, db *sqlx.DB, secret, graphURL string) (*bot, error) {
	b := &bot{}
	var err error
	b.chats, err = messaging.New(ctx, db, &messaging.Options{
		Providers: []provider.Provider{cloud.New(&cloud.Options{GraphURL: graphURL}), sandbox.New()},
		Secrets:   []string{secret}, Sinks: []messaging.Sink{b}, Exclusive: true,
	})
	return b, err
}

// EventsTx stores the answers in the transaction of the messages.
func (b *bot) EventsTx(ctx context.Context, tx messaging.Tx, events []messaging.Event) error {
	for _, e := range events {
		if e.Type != messaging.EventMessage || e.Actor != messaging.ActorContact {
			continue
		}
		var m messaging.MessagePayload
		if err := json.Unmarshal(e.Payload, &m); err != nil {
			return err
		}
		_, err := b.chats.For(e.Account).SendTx(ctx, tx, messaging.SendRequest{
			Reference: e.Reference, ChatID: e.ChatID, Content: provider.Text{Text: answer(m.Text)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ServeHTTP receives the callbacks of Meta.
func (b *bot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		challenge, ok := graph.Challenge(r.URL.Query(), func(token string) bool {
			known, err := b.chats.Handshake(r.Context(), token)
			return known && err == nil
		})
		if !ok {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, challenge)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
	if err == nil {
		err = b.chats.Callback(r.Context(), r.Header, body)
	}
	switch {
	case errors.Is(err, messaging.ErrNotCallback):
		w.WriteHeader(http.StatusBadRequest)
	case errors.Is(err, messaging.ErrUnverified):
		w.WriteHeader(http.StatusUnauthorized)
	case err != nil: // the callback was not stored: Meta sends it again
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}
