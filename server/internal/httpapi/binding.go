package httpapi

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/place"
)

// Binding says how an operation is bound to references. It matters to callers
// who have its permission on some references only: every operation whose
// permission can be limited has one.
type Binding struct {
	at      []string // where it names a reference, or something of one
	lists   bool     // its handler shows what belongs to the references of the call, see [call.reaches]
	account bool     // it concerns the account: the permission is needed on every reference
}

// At binds an operation to what it names, as "query.reference" or "path.botId".
// The last name says what it is.
func At(places ...string) Binding { return Binding{at: places} }

// Listing binds an operation that shows things of several references, or, when
// it names one, of that one.
func Listing(places ...string) Binding { return Binding{at: places, lists: true} }

// OfAccount are operations that concern the account.
var OfAccount = Binding{account: true}

const (
	boundTo       = "bound"        // metadata key
	boundDocument = "x-references" // in the document
)

// bindingOf is the binding of an operation; the document shows it. It panics
// when there should be one and is not.
func bindingOf(op Operation, need auth.Permission) Binding {
	declared := op.On.account || op.On.lists || len(op.On.at) > 0
	switch {
	case need.Limitable() && !declared:
		panic("server: " + op.ID + " does not declare how it is bound to references")
	case !need.Limitable() && declared:
		panic("server: " + op.ID + " is bound to references, but its permission cannot be limited")
	case !need.Limitable() && need != Anyone && need != AnyUser:
		return OfAccount
	}
	return op.On
}

// document is what the document says of a binding.
func (b Binding) document() []string {
	out := slices.Clone(b.at)
	if b.lists {
		out = append(out, "list")
	}
	if b.account {
		out = append(out, "account")
	}
	return out
}

// Reaches says whether the caller has the operation's permission on a
// reference. For what belongs to none, that must be on all.
func (c Call) Reaches(reference int64) bool {
	return c.Only == nil || slices.Contains(c.Only, reference)
}

// With is the call of an operation that needs a further permission; it reaches
// the references on which the caller has that.
func (c Call) With(p auth.Permission) (Call, error) {
	only, all := c.References(p)
	if !all && len(only) == 0 {
		return c, MissingPermission(p)
	}
	c.Only = only
	return c, nil
}

// Among is one reference, or when it is 0, those that the caller reaches; nil:
// all.
func (c Call) Among(reference int64) []int64 {
	if reference != 0 {
		return []int64{reference}
	}
	return c.Only
}

// narrowed is an input that names references where no tag says so.
type narrowed interface{ Narrow(c Call) }

// bounds are the places of a binding in an input.
type bounds struct {
	places []place.Place
	of     []string // what each names
}

// newBounds finds the places. It panics when one is not there.
func newBounds(op Operation, need auth.Permission, input reflect.Type) bounds {
	var b bounds
	if reflect.PointerTo(input).Implements(reflect.TypeFor[narrowed]()) {
		return b
	}
	for _, location := range bindingOf(op, need).at {
		p, err := place.Find(input, location)
		if err != nil {
			panic("server: " + op.ID + ": " + err.Error())
		}
		b.places, b.of = append(b.places, p), append(b.of, location[strings.LastIndexByte(location, '.')+1:])
	}
	return b
}

// narrow replaces what a limited caller names, and that is outside of the
// references where the permission holds, by ids that lead nowhere. The handler
// then answers as it does for what belongs to another account.
func (b bounds) narrow(ctx context.Context, in func(context.Context, Call, string, string) (bool, error), c Call, input any) error {
	if c.Only == nil {
		return nil
	}
	if n, is := input.(narrowed); is {
		n.Narrow(c)
	}
	var failed error
	for i, p := range b.places {
		p.Each(input, func(v reflect.Value) {
			if v.Kind() == reflect.Int64 {
				v.SetInt(c.Within(v.Int()))
				return
			}
			inside, err := in(ctx, c, b.of[i], v.String())
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

// Within is a reference id, or one that leads nowhere when it is outside.
func (c Call) Within(reference int64) int64 {
	if reference == 0 || c.Reaches(reference) {
		return reference
	}
	return reference | nowhereBit
}
