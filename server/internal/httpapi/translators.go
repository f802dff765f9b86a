package httpapi

import (
	"errors"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

// Translators make problems of those errors of services that are not of package
// apierr; the first that knows an error wins.
type Translators []func(error) *Problem

// Problem returns the problem that err is, or that a service means by it.
// It returns nil when err is neither.
func (t Translators) Problem(err error) *Problem {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if moved, ok := e.(*relocation); ok { //nolint:errorlint // a joined error must not be taken for one of its parts
			return t.move(moved)
		}
	}
	if p := t.together(err); p != nil {
		return p
	}
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	for _, translate := range t {
		if p := translate(err); p != nil {
			return p
		}
	}
	return Refusal(err)
}

// Refusal returns the problem that a service means by an error of package
// apierr, and nil for other errors.
func Refusal(err error) *Problem {
	var bad *apierr.Invalid
	var refused *apierr.Error
	switch {
	case errors.As(err, &bad):
		return Invalid("body."+bad.Field, bad.Message)
	case errors.As(err, &refused):
		return NewProblem(refused.Code, refused.Message)
	}
	return nil
}

// together returns one problem that names all that several joined errors say
// is wrong with a request, or nil when err is not that.
func (t Translators) together(err error) *Problem {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return nil
	}
	var out *Problem
	for _, one := range joined.Unwrap() {
		p := t.Problem(one)
		switch {
		case p == nil || p.Code != CodeValidation || len(p.Errors) == 0:
			return nil
		case out == nil:
			copied := *p
			copied.Errors = slices.Clone(p.Errors)
			out = &copied
		default:
			out.Errors = append(out.Errors, p.Errors...)
		}
	}
	return out
}

// move returns the problem of a relocated error with its new locations.
func (t Translators) move(r *relocation) *Problem {
	p := t.Problem(r.err)
	if p == nil || len(p.Errors) == 0 {
		return p
	}
	moved := *p
	moved.Errors = slices.Clone(p.Errors)
	for i, e := range moved.Errors {
		if name, ok := strings.CutPrefix(e.Location, r.from); ok {
			moved.Errors[i].Location = r.to + name
		}
	}
	return &moved
}

// relocation is an error whose locations are elsewhere in the request than its
// service says.
type relocation struct {
	err      error
	from, to string
}

func (r *relocation) Error() string { return r.err.Error() }

func (r *relocation) Unwrap() error { return r.err }

// Relocate returns err with its locations below from moved to below to.
func Relocate(err error, from, to string) error {
	if err == nil {
		return nil
	}
	return &relocation{err: err, from: from, to: to}
}

// InQuery returns err with its locations moved from the body to the query.
func InQuery(err error) error { return Relocate(err, "body.", "query.") }
