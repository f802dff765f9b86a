package messaging

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Errors of [Service.Callback].
var (
	// ErrNotCallback reports a body that is no JSON object.
	ErrNotCallback = errors.New("messaging: a callback's body must be a JSON object")
	// ErrUnverified reports that no reference with the ids of a callback has
	// the secret that signed it.
	ErrUnverified = errors.New("messaging: the signature fits no reference that this callback is for")
	// ErrUnproved reports that no account could show yet that its token may read
	// the id of a callback: several claim it with the right secret, or the secret
	// is the one for all references.
	ErrUnproved = errors.New("messaging: no access token has shown yet that it may read the id of this callback")
)

// Handshake reports whether token is the verify token of some reference, or the
// one for all references of a kind.
func (s *Service) Handshake(ctx context.Context, token string) (bool, error) {
	if token == "" || s.keys == nil {
		return false, nil
	}
	for _, p := range s.opts.Providers {
		if c, ok := p.(provider.Caller); ok {
			_, verify := c.Secrets(effective(p, nil))
			if verify != "" && subtle.ConstantTimeCompare([]byte(verify), []byte(token)) == 1 {
				return true, nil
			}
		}
	}
	for _, h := range s.keys.Hashes(verifyPurpose, token) {
		var known bool
		if err := s.db.GetContext(ctx, &known, `SELECT EXISTS (SELECT 1 FROM messaging_reference WHERE verify_hash = $1 AND verify_hash <> '')`, h); err != nil {
			return false, fmt.Errorf("looking for a verify token: %w", err)
		}
		if known {
			return true, nil
		}
	}
	return false, nil
}

// wholeBody is up to how many bytes a body that nobody signed is read as JSON:
// the refusal of a larger one does not say whether it is any.
const wholeBody = 64 << 10

// Callback takes what a network posted: header and the raw bytes of body. It
// returns nil only once every event is durable, for every reference whose
// secret signed the body; see [ErrNotCallback], [ErrUnverified] and
// [ErrUnproved] for the refusals. A body may come any number of times.
//
// Who signed it is known only once an id in it is: a body is searched for some,
// they are looked up together, and their secrets are tried. What none of them
// signed is not taken apart, so that its cost does not depend on what is in it.
func (s *Service) Callback(ctx context.Context, header http.Header, body []byte) error {
	if !render.IsObject(body) {
		return ErrNotCallback
	}
	caller, p := s.caller(objectOf(body))
	if caller == nil {
		if notJSON(body) {
			return ErrNotCallback
		}
		s.opts.Observer.received("", "unrouted", 1)
		return nil
	}
	signer := &signer{caller: caller, kind: p.Kind(), header: header, body: body}
	if err := s.findSigner(ctx, signer); err != nil {
		if errors.Is(err, ErrUnverified) && notJSON(body) {
			return ErrNotCallback
		}
		return err
	}
	parts, err := caller.Route(body)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotCallback, err)
	}
	routed, err := s.route(ctx, signer, parts)
	if err != nil {
		return err
	}
	as := s.parse(caller, p.Kind(), parts, routed)
	if err := s.receive(ctx, as); err != nil {
		return err
	}
	s.nowConnected(ctx, routed)
	return nil
}

// Addressed reports whether body is for one of the kinds of references that are here:
// of anything else [Service.Callback] looks at nothing, not even who signed it.
func (s *Service) Addressed(body []byte) bool {
	c, _ := s.caller(objectOf(body))
	return c != nil
}

// notJSON reports whether a small body is certainly none.
func notJSON(body []byte) bool { return len(body) <= wholeBody && !json.Valid(body) }

// objectOf is the member "object"; one that is no string is one nobody answers
// to. Of a large body it is the first of that name: networks begin with
// it.
func objectOf(body []byte) (name string) {
	if len(body) <= wholeBody {
		_ = json.Unmarshal(jsonscan.Get(body, "object"), &name)
		return name
	}
	const member = `"object"`
	at := bytes.Index(body, []byte(member))
	if at < 0 {
		return ""
	}
	rest := bytes.TrimLeft(body[at+len(member):min(len(body), at+128)], " \t\r\n:")
	if end := bytes.IndexByte(rest[min(1, len(rest)):], '"'); end >= 0 {
		_ = json.Unmarshal(rest[:end+2], &name)
	}
	return name
}

func (s *Service) caller(object string) (provider.Caller, provider.Provider) {
	for _, p := range s.opts.Providers {
		if c, ok := p.(provider.Caller); ok && c.Object() == object {
			return c, p
		}
	}
	return nil, nil
}

// route finds, for each part, the claims with the secret that signed the body.
func (s *Service) route(ctx context.Context, by *signer, parts []provider.Part) ([][]claim, error) {
	claims, err := s.claimsOf(ctx, by, parts)
	if err != nil {
		return nil, err
	}
	routed := make([][]claim, len(parts))
	probes := maxProbes
	found := false
	for i, part := range parts {
		if routed[i], err = s.proved(ctx, claims[keyOf(by.kind, part)], &probes); err != nil {
			return nil, err
		}
		found = found || len(routed[i]) > 0
	}
	if !found {
		return nil, ErrUnverified
	}
	return routed, nil
}

const (
	// probePause is the least time between two proofs that a callback asks for.
	probePause = time.Minute
	// maxProbes is for how many proofs one callback asks; its repetition asks for
	// the others.
	maxProbes = 8
)

// proved keeps, when several accounts claim one id with the right secret,
// those whose token may read it. A claim with the secret for all references is
// always one of those: its owner does not know that secret.
func (s *Service) proved(ctx context.Context, claims []claim, probes *int) ([]claim, error) {
	contested := slices.ContainsFunc(claims, func(c claim) bool { return c.shared || c.line.Account != claims[0].line.Account })
	if !contested {
		return claims, nil
	}
	keep := slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return !c.proved })
	if len(keep) > 0 {
		return keep, nil
	}
	doubtful := false
	for _, c := range claims {
		row := c.row
		if *probes > 0 && s.now().Sub(database.Time(row.ProbeUS)) >= probePause {
			*probes--
			var err error
			if row, err = s.check(ctx, row, ""); err != nil {
				return nil, err
			}
		}
		if row.Proved {
			keep = append(keep, c)
		}
		doubtful = doubtful || !c.shared || row.State != StateFailed
	}
	if len(keep) == 0 && doubtful {
		return nil, ErrUnproved
	}
	return keep, nil // none: the network refused the token of each
}

// parse turns parts into inbound events, once for each reference they go to.
func (s *Service) parse(c provider.Caller, kind provider.Kind, parts []provider.Part, routed [][]claim) []inboundEvent {
	var as []inboundEvent
	unknown := 0
	for i, part := range parts {
		if len(routed[i]) == 0 {
			unknown++
			continue
		}
		events, bads := c.Parse(part)
		for _, cl := range routed[i] {
			for _, e := range events {
				as = append(as, inboundEvent{reference: cl.line, event: e})
			}
			for _, b := range bads {
				as = append(as, inboundEvent{reference: cl.line, bad: &b})
			}
		}
	}
	if unknown > 0 {
		s.opts.Observer.received(kind, "unrouted", unknown)
		s.opts.Logger.Info("callback entries for unknown lines", slog.String("kind", string(kind)), slog.Int("entries", unknown))
	}
	return as
}

// nowConnected marks lines that have received their first callback.
func (s *Service) nowConnected(ctx context.Context, routed [][]claim) {
	seen := map[provider.ReferenceID]bool{}
	for _, claims := range routed {
		for _, c := range claims {
			if seen[c.line.ID] {
				continue
			}
			seen[c.line.ID] = true
			if c.row.SignedUS == neverSigned {
				s.markSigned(ctx, c.row)
			}
			if c.starting {
				s.markConnected(ctx, c.line.ID)
			}
		}
	}
}

// markSigned notes that the secret of a reference has signed a callback, for
// which it is tried before those that have not. It is not worth failing a
// callback for.
func (s *Service) markSigned(ctx context.Context, row *store.Reference) {
	err := s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET signed_us = $1 WHERE id = $2 AND revision = $3 AND signed_us > $1`,
			database.Micros(s.now()), row.ID, row.Revision)
		return err
	})
	if err != nil {
		s.opts.Logger.WarnContext(ctx, "marking a line's secret as proved", slog.Int64("reference", int64(row.ID)), slog.Any("error", err))
		return
	}
	s.referencesChanged()
}

// markConnected notes that the network and a starting line are in touch. It
// is not worth failing a callback or a send for.
func (s *Service) markConnected(ctx context.Context, id provider.ReferenceID) {
	_, err := s.setState(ctx, id, "", func(r *store.Reference) {
		if r.State == StateStarting {
			markReferenceConnected(r, database.Micros(s.now()))
		}
	})
	if err != nil {
		s.opts.Logger.WarnContext(ctx, "marking a line as connected", slog.Int64("reference", int64(id)), slog.Any("error", err))
		return
	}
	s.referencesChanged()
}
