package messaging

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/callback"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Errors of [Service.Callback].
var (
	// ErrNotCallback reports a body that is no JSON object.
	ErrNotCallback = callback.ErrNotCallback
	// ErrUnverified reports that no reference with the ids of a callback has
	// the secret that signed it.
	ErrUnverified = callback.ErrUnverified
	// ErrUnproved reports that no account could show yet that its token may read
	// the id of a callback: several claim it with the right secret, or the secret
	// is the one for all references.
	ErrUnproved = callback.ErrUnproved
)

// Handshake reports whether token is the verify token of some reference, or the
// one for all references of a kind.
func (s *Service) Handshake(ctx context.Context, token string) (bool, error) {
	return s.callbacks.Handshake(ctx, token)
}

// Callback takes what a network posted: header and the raw bytes of body. It
// returns nil only once every event is durable, for every reference whose
// secret signed the body; see [ErrNotCallback], [ErrUnverified] and
// [ErrUnproved] for the refusals. A body may come any number of times.
//
// Who signed it is known only once an id in it is: a body is searched for some,
// they are looked up together, and their secrets are tried. What none of them
// signed is not taken apart, so that its cost does not depend on what is in it.
func (s *Service) Callback(ctx context.Context, header http.Header, body []byte) error {
	return s.callbacks.Receive(ctx, header, body)
}

// Addressed reports whether body is for one of the kinds of references that are here:
// of anything else [Service.Callback] looks at nothing, not even who signed it.
func (s *Service) Addressed(body []byte) bool { return s.callbacks.Addressed(body) }

// markConnected notes that the network and a starting reference are in touch. It
// is not worth failing a callback or a send for.
func (s *Service) markConnected(ctx context.Context, id provider.ReferenceID) {
	_, err := s.setState(ctx, id, "", func(r *store.Reference) {
		if r.State == StateStarting {
			session.MarkConnected(r, database.Micros(s.now()))
		}
	})
	if ctx.Err() != nil {
		return // the caller hung up; the next callback or send does it
	}
	if err != nil {
		s.opts.Logger.WarnContext(ctx, "marking a reference as connected", slog.Int64("reference", int64(id)), slog.Any("error", err))
		return
	}
	s.referencesChanged()
}

// referencesTopic wakes nodes whose cache is out of date.
const referencesTopic = "messaging references"

// referencesChanged makes every node read references again.
func (s *Service) referencesChanged() {
	s.forgetReferences()
	s.db.Notify(referencesTopic)
}

func (s *Service) forgetReferences() {
	s.callbacks.Forget()
	s.inbox.Forget()
}

// watchReferences empties the caches when another node changed a reference.
func (s *Service) watchReferences(ctx context.Context) error {
	changed := s.db.Listen(ctx, referencesTopic)
	for {
		select {
		case <-changed:
			s.forgetReferences()
		case <-ctx.Done():
			return nil
		}
	}
}
