package callback

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

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/settings"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Handshake reports whether token is the verify token of some reference, or the
// one for all references of a kind.
func (r *Router) Handshake(ctx context.Context, token string) (bool, error) {
	if token == "" || r.Settings.Keys == nil {
		return false, nil
	}
	for _, p := range r.Providers {
		if c, ok := p.(provider.Caller); ok {
			_, verify := c.Secrets(settings.Effective(p, nil))
			if verify != "" && subtle.ConstantTimeCompare([]byte(verify), []byte(token)) == 1 {
				return true, nil
			}
		}
	}
	for _, h := range r.Settings.Keys.Hashes(settings.VerifyPurpose, token) {
		var known bool
		if err := r.Store.DB.GetContext(ctx, &known, `SELECT EXISTS (SELECT 1 FROM messaging_reference WHERE verify_hash = $1 AND verify_hash <> '')`, h); err != nil {
			return false, fmt.Errorf("looking for a verify token: %w", err)
		}
		if known {
			return true, nil
		}
	}
	return false, nil
}

// wholeBody is up to how many bytes a body without a valid signature is read as JSON:
// the refusal of a larger one does not say whether it is any.
const wholeBody = 64 << 10

// Receive takes what a network posted: header and the raw bytes of body. It
// returns nil only once every event is durable, for every reference whose
// secret signed the body; see [ErrNotCallback], [ErrUnverified] and
// [ErrUnproved] for the refusals. A body may come any number of times.
//
// Who signed it is known only once an id in it is: a body is searched for some,
// they are looked up together, and their secrets are tried. What none of them
// signed is not taken apart, so that its cost does not depend on what is in it.
func (r *Router) Receive(ctx context.Context, header http.Header, body []byte) error {
	if !render.IsObject(body) {
		return ErrNotCallback
	}
	caller, p := r.caller(objectOf(body))
	if caller == nil {
		if notJSON(body) {
			return ErrNotCallback
		}
		r.Unrouted("", 1)
		return nil
	}
	signer := &signer{caller: caller, kind: p.Kind(), header: header, body: body}
	if err := r.findSigner(ctx, signer); err != nil {
		if errors.Is(err, ErrUnverified) && notJSON(body) {
			return ErrNotCallback
		}
		return err
	}
	parts, err := caller.Route(body)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotCallback, err)
	}
	routed, err := r.route(ctx, signer, parts)
	if err != nil {
		return err
	}
	as := r.parse(caller, p.Kind(), parts, routed)
	if err := r.Ingest(ctx, as); err != nil {
		return err
	}
	r.nowConnected(ctx, routed)
	return nil
}

// Addressed reports whether body is for one of the kinds of references that are here:
// of anything else [Router.Receive] looks at nothing, not even who signed it.
func (r *Router) Addressed(body []byte) bool {
	c, _ := r.caller(objectOf(body))
	return c != nil
}

// notJSON reports whether a small body is certainly none.
func notJSON(body []byte) bool { return len(body) <= wholeBody && !json.Valid(body) }

// objectOf is the member "object"; one that is not a string has no receiver
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

func (r *Router) caller(object string) (provider.Caller, provider.Provider) {
	for _, p := range r.Providers {
		if c, ok := p.(provider.Caller); ok && c.Object() == object {
			return c, p
		}
	}
	return nil, nil
}

// route finds, for each part, the claims with the secret that signed the body.
func (r *Router) route(ctx context.Context, by *signer, parts []provider.Part) ([][]claim, error) {
	claims, err := r.claimsOf(ctx, by, parts)
	if err != nil {
		return nil, err
	}
	routed := make([][]claim, len(parts))
	probes := maxProbes
	found := false
	for i, part := range parts {
		if routed[i], err = r.proved(ctx, claims[keyOf(by.kind, part)], &probes); err != nil {
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
func (r *Router) proved(ctx context.Context, claims []claim, probes *int) ([]claim, error) {
	contested := slices.ContainsFunc(claims, func(c claim) bool { return c.shared || c.ref.Account != claims[0].ref.Account })
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
		if *probes > 0 && r.Store.Now().Sub(database.Time(row.ProbeUS)) >= probePause {
			*probes--
			var err error
			if row, err = r.Check(ctx, row); err != nil {
				return nil, err
			}
		}
		if row.Proved {
			keep = append(keep, c)
		}
		doubtful = doubtful || !c.shared || row.State != payload.StateFailed
	}
	if len(keep) == 0 && doubtful {
		return nil, ErrUnproved
	}
	return keep, nil // none: the network refused the token of each
}

// parse turns parts into inbound events, once for each reference they go to.
func (r *Router) parse(c provider.Caller, kind provider.Kind, parts []provider.Part, routed [][]claim) []ingest.Event {
	var as []ingest.Event
	unknown, room := 0, maxReplayable
	for i, part := range parts {
		if len(routed[i]) == 0 {
			unknown++
			continue
		}
		es := eventsOf(c, part, &room)
		for _, cl := range routed[i] {
			for _, e := range es {
				e.Reference = cl.ref
				as = append(as, e)
			}
		}
	}
	if unknown > 0 {
		r.Unrouted(kind, unknown)
		r.Logger.Info("callback entries for unknown references", slog.String("kind", string(kind)), slog.Int("entries", unknown))
	}
	return as
}

// nowConnected marks references that have received their first callback.
func (r *Router) nowConnected(ctx context.Context, routed [][]claim) {
	seen := map[provider.ReferenceID]bool{}
	for _, claims := range routed {
		for _, c := range claims {
			if seen[c.ref.ID] {
				continue
			}
			seen[c.ref.ID] = true
			if c.row.SignedUS == store.NeverSigned {
				r.markSigned(ctx, c.row)
			}
			if c.starting {
				r.MarkConnected(ctx, c.ref.ID)
			}
		}
	}
}

// markSigned notes that the secret of a reference has signed a callback, for
// which it is tried before those that have not. It is not worth failing a
// callback for.
func (r *Router) markSigned(ctx context.Context, row *store.Reference) {
	err := r.Store.DB.InTx(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE messaging_reference SET signed_us = $1 WHERE id = $2 AND revision = $3 AND signed_us > $1`,
			database.Micros(r.Store.Now()), row.ID, row.Revision)
		return err
	})
	if ctx.Err() != nil {
		return // the network hung up; the next callback does it
	}
	if err != nil {
		r.Logger.WarnContext(ctx, "marking a reference's secret as proved", slog.Int64("reference", int64(row.ID)), slog.Any("error", err))
		return
	}
	r.Changed()
}
