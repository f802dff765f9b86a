package server

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/place"
	"github.com/trunklinehq/trunkline/webhook"
)

// binding says how an operation is bound to references. It matters to callers
// who have its permission on some references only: every operation whose
// permission can be limited has one.
type binding struct {
	at      []string // where it names a reference, or something of one
	lists   bool     // its handler shows what belongs to the references of the call, see [call.reaches]
	account bool     // it concerns the account: the permission is needed on every reference
}

// at binds an operation to what it names, as "query.reference" or "path.botId".
// The last name says what it is.
func at(places ...string) binding { return binding{at: places} }

// listing binds an operation that shows things of several references, or, when
// it names one, of that one.
func listing(places ...string) binding { return binding{at: places, lists: true} }

// ofPath binds what bots and flows have in common. Flows belong to the account,
// of whose permissions none that is about flows can be limited.
func ofPath(path string) binding {
	if strings.Contains(path, "{botId}") {
		return at("path.botId")
	}
	return binding{}
}

// ofAccount are operations that concern the account.
var ofAccount = binding{account: true}

const (
	boundTo       = "bound"        // metadata key
	boundDocument = "x-references" // in the document
)

// bindingOf is the binding of an operation; the document shows it. It panics
// when there should be one and is not.
func bindingOf(op operation, need auth.Permission) binding {
	declared := op.on.account || op.on.lists || len(op.on.at) > 0
	switch {
	case need.Limitable() && !declared:
		panic("server: " + op.id + " does not declare how it is bound to references")
	case !need.Limitable() && declared:
		panic("server: " + op.id + " is bound to references, but its permission cannot be limited")
	case !need.Limitable() && need != anyone && need != anyUser:
		return ofAccount
	}
	return op.on
}

// document is what the document says of a binding.
func (b binding) document() []string {
	out := slices.Clone(b.at)
	if b.lists {
		out = append(out, "list")
	}
	if b.account {
		out = append(out, "account")
	}
	return out
}

// reaches says whether the caller has the operation's permission on a
// reference. For what belongs to none, that must be on all.
func (c call) reaches(reference int64) bool {
	return c.only == nil || slices.Contains(c.only, reference)
}

// with is the call of an operation that needs a further permission; it reaches
// the references on which the caller has that.
func (c call) with(p auth.Permission) (call, error) {
	only, all := c.References(p)
	if !all && len(only) == 0 {
		return c, lacking(p)
	}
	c.only = only
	return c, nil
}

// among is one reference, or when it is 0, those that the caller reaches; nil:
// all.
func (c call) among(reference int64) []int64 {
	if reference != 0 {
		return []int64{reference}
	}
	return c.only
}

// scopes are the scopes of webhooks that the caller reaches; nil: all.
func (c call) scopes() []string {
	if c.only == nil {
		return nil
	}
	out := make([]string, len(c.only))
	for i, reference := range c.only {
		out[i] = webhookScope(provider.ReferenceID(reference))
	}
	return out
}

// narrowed is an input that names references where no tag says so.
type narrowed interface{ narrow(c call) }

// bounds are the places of a binding in an input.
type bounds struct {
	places []place.Place
	of     []string // what each names
}

// newBounds finds the places. It panics when one is not there.
func newBounds(op operation, need auth.Permission, input reflect.Type) bounds {
	var b bounds
	if reflect.PointerTo(input).Implements(reflect.TypeFor[narrowed]()) {
		return b
	}
	for _, location := range bindingOf(op, need).at {
		p, err := place.Find(input, location)
		if err != nil {
			panic("server: " + op.id + ": " + err.Error())
		}
		b.places, b.of = append(b.places, p), append(b.of, location[strings.LastIndexByte(location, '.')+1:])
	}
	return b
}

// narrow replaces what a limited caller names, and that is outside of the
// references where the permission holds, by ids that lead nowhere. The handler
// then answers as it does for what belongs to another account.
func (b bounds) narrow(ctx context.Context, s *Server, c call, in any) error {
	if c.only == nil {
		return nil
	}
	if n, is := in.(narrowed); is {
		n.narrow(c)
	}
	var failed error
	for i, p := range b.places {
		p.Each(in, func(v reflect.Value) {
			if v.Kind() == reflect.Int64 {
				v.SetInt(c.within(v.Int()))
				return
			}
			inside, err := s.inside(ctx, c, b.of[i], v.String())
			if failed = errors.Join(failed, err); !inside {
				v.SetString(nowhereID)
			}
		})
	}
	return failed
}

const (
	// nowhereID is the id of nothing.
	nowhereID = "00000000-0000-0000-0000-000000000000"
	// nowhereBit is in the id of no reference.
	nowhereBit = 1 << 62
)

// within is a reference id, or one that leads nowhere when it is outside.
func (c call) within(reference int64) int64 {
	if reference == 0 || c.reaches(reference) {
		return reference
	}
	return reference | nowhereBit
}

// inside says whether something belongs to a reference that the caller
// reaches. What is not there does not matter.
func (s *Server) inside(ctx context.Context, c call, what, id string) (bool, error) {
	if id == "" {
		return true, nil
	}
	reference, err := s.referenceOf(ctx, c, what, id)
	switch {
	case errors.Is(err, webhook.ErrNotFound), errors.Is(err, botengine.ErrNotFound), errors.Is(err, store.ErrNotFound), errors.Is(err, runtime.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	return c.reaches(reference), nil
}

// referenceOf is the reference to which something belongs; 0: to none.
func (s *Server) referenceOf(ctx context.Context, c call, what, id string) (int64, error) {
	switch what {
	case "botId", "bot":
		b, err := s.bots(c).Bot(ctx, id)
		return b.Reference, err
	case "runId":
		r, err := s.Runs.For(c.Account).Run(ctx, id)
		return r.Chat.Reference, err
	case "extractorId":
		e, err := s.extractors(c).Extractor(ctx, id)
		return e.Scope.Reference, err
	case "endpointId", "endpoint":
		ep, err := s.hooks(c).Endpoint(ctx, id)
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(ep.Scope, 10, 64)
	case "flow":
		return 0, nil // flows belong to the account
	}
	return 0, fmt.Errorf("nobody knows to which reference %s belongs", what)
}
