package messaging

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
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
		var n int
		if err := s.db.GetContext(ctx, &n, `SELECT count(*) FROM messaging_reference WHERE verify_hash = $1`, h); err != nil {
			return false, fmt.Errorf("looking for a verify token: %w", err)
		}
		if n > 0 {
			return true, nil
		}
	}
	return false, nil
}

// Callback takes what a network posted: header and the raw bytes of body. It
// returns nil only once every event is durable, for every reference whose
// secret signed the body; see [ErrNotCallback], [ErrUnverified] and
// [ErrUnproved] for the refusals. A body may come any number of times.
func (s *Service) Callback(ctx context.Context, header http.Header, body []byte) error {
	var object string
	_ = json.Unmarshal(jsonscan.Get(body, "object"), &object) // an object that is no string is one nobody answers to
	caller, p := s.caller(object)
	if caller == nil { // who is one, and reads bodies that are none, refuses them
		if !isObject(body) || !json.Valid(body) {
			return ErrNotCallback
		}
		s.opts.Observer.received("", "unrouted", 1)
		return nil
	}
	parts, err := caller.Route(body)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotCallback, err)
	}
	routed, err := s.route(ctx, caller, p.Kind(), parts, header, body, false)
	if errors.Is(err, ErrUnverified) || err == nil && slices.ContainsFunc(routed, unclaimed) {
		// A reference may have been made or changed on another node.
		routed, err = s.route(ctx, caller, p.Kind(), parts, header, body, true)
	}
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

func unclaimed(cs []claim) bool { return len(cs) == 0 }

// isObject reports whether valid JSON is an object.
func isObject(body []byte) bool { return jsonscan.Kind(body) == '{' }

func (s *Service) caller(object string) (provider.Caller, provider.Provider) {
	for _, p := range s.opts.Providers {
		if c, ok := p.(provider.Caller); ok && c.Object() == object {
			return c, p
		}
	}
	return nil, nil
}

// route finds, for each part, the claims whose secret signed the body.
func (s *Service) route(ctx context.Context, c provider.Caller, kind provider.Kind, parts []provider.Part,
	header http.Header, body []byte, fresh bool,
) ([][]claim, error) {
	routed := make([][]claim, len(parts))
	signed := map[string]bool{}
	for i, part := range parts {
		key := claimKey{kind: kind, id: part.Line}
		if part.Line == "" {
			key = claimKey{kind: kind, id: part.Group, group: true}
		}
		if key.id == "" {
			continue
		}
		claims, err := s.claims.get(ctx, s, key, fresh)
		if err != nil {
			return nil, err
		}
		for _, cl := range claims {
			ok, tried := signed[cl.secret]
			if !tried {
				ok = cl.secret != "" && c.Verify(cl.secret, header, body)
				signed[cl.secret] = ok
			}
			if ok {
				routed[i] = append(routed[i], cl)
			}
		}
		if routed[i], err = s.proved(ctx, routed[i]); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(routed, func(cs []claim) bool { return len(cs) > 0 }) {
		return nil, ErrUnverified
	}
	return routed, nil
}

// probePause is the least time between two proofs that a callback asks for.
const probePause = time.Minute

// proved keeps, when several accounts claim one id with the right secret,
// those whose token may read it. A claim with the secret for all references is
// always one of those: its owner does not know that secret.
func (s *Service) proved(ctx context.Context, claims []claim) ([]claim, error) {
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
		if s.now().Sub(database.Time(row.ProbeUS)) >= probePause {
			var err error
			if row, err = s.check(ctx, row); err != nil {
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

// parse turns parts into arrivals, once for each reference they go to.
func (s *Service) parse(c provider.Caller, kind provider.Kind, parts []provider.Part, routed [][]claim) []arrival {
	var as []arrival
	for i, part := range parts {
		if len(routed[i]) == 0 {
			s.opts.Observer.received(kind, "unrouted", 1)
			s.opts.Logger.Info("callback entry for an unknown line", slog.String("kind", string(kind)))
			continue
		}
		events, bads := c.Parse(part)
		for _, cl := range routed[i] {
			for _, e := range events {
				as = append(as, arrival{line: cl.line, event: e})
			}
			for _, b := range bads {
				as = append(as, arrival{line: cl.line, bad: &b})
			}
		}
	}
	return as
}

// nowConnected marks lines that have received their first callback.
func (s *Service) nowConnected(ctx context.Context, routed [][]claim) {
	seen := map[provider.ReferenceID]bool{}
	for _, claims := range routed {
		for _, c := range claims {
			if c.starting && !seen[c.line.ID] {
				seen[c.line.ID] = true
				s.markConnected(ctx, c.line.ID)
			}
		}
	}
}

// markConnected notes that the network and a starting line are in touch. It
// is not worth failing a callback or a send for.
func (s *Service) markConnected(ctx context.Context, id provider.ReferenceID) {
	_, err := s.setState(ctx, id, func(r *referenceRow) {
		if r.State == StateStarting {
			r.connected(database.Micros(s.now()))
		}
	})
	if err != nil {
		s.opts.Logger.WarnContext(ctx, "marking a line as connected", slog.Int64("reference", int64(id)), slog.Any("error", err))
		return
	}
	s.referencesChanged()
}
