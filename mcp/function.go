package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"time"
)

// Caller is the caller of a function. The code that makes the request fills it in.
// The zero value has no permissions.
type Caller struct {
	Account string
	User    string // id of the user; limits of functions count per user
	Token   string // id of the scoped token that was used; "": none
	// May reports whether the caller has a permission now. nil: none.
	May func(permission string) bool
	// On returns the references on which the caller has a permission that May denies.
	// nil: none.
	On func(permission string) []int64
}

func (c Caller) may(permission string) bool {
	return permission == "" || c.May != nil && c.May(permission)
}

// Call is the context of a call that a handler gets besides its arguments.
type Call struct {
	Caller
	Function string
	// Only are the references on which the caller has the permission, for a
	// function that is a Listing; nil: all.
	Only []int64

	report func(done, total float64, text string)
}

// Progress reports the progress of the call, if the caller asked for it. total is 0
// while it is unknown.
func (c Call) Progress(done, total float64, text string) {
	if c.report != nil {
		c.report(done, total, text)
	}
}

// Function is a function that callers may call. In is a struct with its arguments,
// Out one with its result. See [Register] for the tags of their fields.
type Function[In, Out any] struct {
	Name        string // a–z, 0–9 and _, at most 64
	Title       string // for people; "": the name
	Description string // for models: when to use it, and what it returns
	Permission  string // besides [PermissionExecute]; "": none

	// Reference is the argument that names the reference of the call. A caller who
	// has the permission only on some references can call the function for these.
	// For any other reference the handler gets the id of one that does not exist.
	Reference string
	// Listing reports that Handler shows only what belongs to [Call.Only]. If it is
	// false and Reference is "", the permission is needed on every reference.
	Listing bool

	ReadOnly    bool // it changes nothing
	Idempotent  bool // to call it again with the same arguments changes nothing more
	Destructive bool // it may delete or overwrite

	Limit   int           // calls per minute by one user; 0: the registry's default, −1: no limit
	Timeout time.Duration // 0: the registry's default

	// Schema is the published schema of the arguments, instead of one derived from
	// In, which must then be [json.RawMessage]. The registry then checks only that
	// the arguments are an object, and none of them is private.
	Schema json.RawMessage

	// Handler performs the call. The context ends at the deadline and when the
	// caller disconnects. An error should be an [*Error], or one that
	// [Options.Translate] understands.
	Handler func(ctx context.Context, c Call, in In) (Out, error)
	// Plan returns what Handler would do, without doing it. It must refuse what
	// Handler refuses. nil: a dry run only validates the arguments.
	Plan func(ctx context.Context, c Call, in In) (any, error)
}

// function is a [Function] whose type parameters only its closures know.
type function struct {
	tool    Tool
	limit   int
	timeout time.Duration
	in, out *shape
	listing bool
	about   []int // index of the field of Function.Reference; nil: none

	decode func(raw []byte) (in any, details []Detail)
	call   func(ctx context.Context, c Call, in any) (out any, err error)
	plan   func(ctx context.Context, c Call, in any) (any, error)
}

var functionName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Register adds a function. Its errors name the function, and the field of In
// or Out that cannot be used.
//
// Arguments are the fields of In, named by their json tags, of the kinds
// string, bool, integer, float, slice, struct, map with text keys, and
// [json.RawMessage] or any for what is not checked; what unmarshals itself
// from text is a string. A field is required unless it is a pointer, says
// omitempty or omitzero, or has a default. Further tags:
//
//	doc:"…"                         for models and people
//	enum:"a,b"                      the only texts that are allowed
//	minLength:"1" maxLength:"20"    of a text, in characters; of a slice, in elements
//	minimum:"1" maximum:"100"       of a number
//	default:"20"                    is the value of what is left out
//	private:"true"                  the audit log does not hold the value
//
// The tags except the last three also apply to the fields of Out. Nil slices and
// maps in it become empty.
func Register[In, Out any](r *Registry, f Function[In, Out]) error {
	e, err := build(r, f)
	if err == nil {
		err = r.add(e)
	}
	if err != nil {
		return fmt.Errorf("mcp: registering function %q: %w", f.Name, err)
	}
	return nil
}

func build[In, Out any](r *Registry, f Function[In, Out]) (*function, error) {
	e := &function{limit: f.Limit, timeout: f.Timeout, listing: f.Listing}
	if err := check(f); err != nil {
		return nil, err
	}
	if f.Limit == 0 {
		e.limit = r.opts.Limit
	}
	if f.Timeout == 0 {
		e.timeout = r.opts.Timeout
	}
	var err error
	if e.in, err = inputShape(reflect.TypeFor[In](), f.Schema); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	if e.about, err = e.in.reference(f.Reference); err != nil {
		return nil, fmt.Errorf("Function.Reference: %w", err)
	}
	if e.out, err = outputShape(reflect.TypeFor[Out]()); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	e.tool = Tool{
		Name: f.Name, Title: f.Title, Description: f.Description, Permission: f.Permission,
		ReadOnly: f.ReadOnly, Idempotent: f.Idempotent, Destructive: f.Destructive,
		Input: e.in.published(), Output: e.out.published(),
	}
	e.decode = func(raw []byte) (any, []Detail) {
		in := new(In)
		details := decodeArguments(raw, e.in, reflect.ValueOf(in).Elem())
		return in, details
	}
	e.call = func(ctx context.Context, c Call, in any) (any, error) {
		out, err := f.Handler(ctx, c, *in.(*In))
		if err != nil {
			return nil, err
		}
		e.out.fill(reflect.ValueOf(&out).Elem())
		return out, nil
	}
	if f.Plan != nil {
		e.plan = func(ctx context.Context, c Call, in any) (any, error) { return f.Plan(ctx, c, *in.(*In)) }
	}
	return e, nil
}

func check[In, Out any](f Function[In, Out]) error {
	switch {
	case !functionName.MatchString(f.Name):
		return fmt.Errorf("Function.Name must match %s", functionName)
	case f.Description == "":
		return fmt.Errorf("Function.Description is missing: a model knows nothing else about the function")
	case f.Handler == nil:
		return fmt.Errorf("Function.Handler is missing")
	case f.Limit < -1 || f.Limit > maxLimit:
		return fmt.Errorf("Function.Limit must be from 1 to %d, or -1", maxLimit)
	case f.Timeout < 0:
		return fmt.Errorf("Function.Timeout is negative")
	}
	return nil
}
