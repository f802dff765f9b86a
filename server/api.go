package server

import (
	"context"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/server/auth"
)

// api collects operations and registers them with huma.
type api struct {
	huma.API
	s       *Server
	pending []pendingOperation
	literal map[string]bool // paths without parameters
}

type pendingOperation struct {
	path     string
	register func()
}

// operation declares a route of the REST API. All that follows from it (the
// document, the checks, the problems) is made by [register].
type operation struct {
	id      string // "<Service>_<Method>" of the Go API
	method  string
	path    string // "/bot/{id}"
	summary string // one line without a full stop
	about   string // further sentences; "": none
	status  int    // of success; 0: 200
	maxBody int64  // bytes; 0: 1 MiB
	errors  []int  // statuses beyond those that follow from the rest
	limited bool   // 60 a minute and address
	login   bool   // a scoped token never suffices: its owner must have logged in
	owner   bool   // only an owner of the account
	on      binding
	self    string // parameter of the path: who does not name himself in it needs users.manage; "": none
}

// Permissions that are none.
const (
	anyone    auth.Permission = "anyone"   // no token is needed
	anyUser   auth.Permission = "any user" // a token is, but no permission
	problems                  = "Problem"  // schema of refusals
	limited                   = "limited"  // metadata key
	self                      = "self"     // metadata key
	loginOnly                 = "x-login-only"
	ownerOnly                 = "x-owner-only"
)

// Names of the security schemes.
const (
	bearer = "bearer"
	cookie = "cookie"
)

// call is who makes a request, and from where.
type call struct {
	auth.Caller            // zero where no token is needed
	Client      netip.Addr // behind trusted proxies
	Agent       string     // what the client calls itself
	device      string     // of the browser, from a login before
	foreign     bool       // a page of another site makes the request, and it is none that only reads
	only        []int64    // the references on which the caller has the operation's permission; nil: all
}

type callKey struct{}

// reply is the answer of an operation that has nothing but a body.
type reply[T any] struct{ Body T }

// register adds an operation whose handler returns the JSON of the answer. I
// is a huma input: path, query and header fields by tag, and Body. The caller
// has the permission when the handler runs. Paths may be registered in any
// order: literal ones win over those with {parameters}.
func register[I, T any](a *api, op operation, need auth.Permission, handler func(context.Context, call, *I) (T, error)) {
	registerReply(a, op, need, func(ctx context.Context, c call, in *I) (*reply[T], error) {
		out, err := handler(ctx, c, in)
		return &reply[T]{out}, err
	})
}

// registerReply is [register] for operations that choose a status or headers
// of their own: O is a huma output.
func registerReply[I, O any](a *api, op operation, need auth.Permission, handler func(context.Context, call, *I) (*O, error)) {
	within := newBounds(op, need, reflect.TypeFor[I]())
	a.pending = append(a.pending, pendingOperation{op.path, func() {
		huma.Register(a.API, a.declare(op, need, hasBody[I]()), func(ctx context.Context, in *I) (*O, error) {
			c, _ := ctx.Value(callKey{}).(call)
			if err := within.narrow(ctx, a.s, c, in); err != nil {
				return nil, a.s.problemOf(ctx, err)
			}
			out, err := handler(ctx, c, in)
			if err != nil {
				return nil, a.s.problemOf(ctx, err)
			}
			if op.method == http.MethodDelete {
				a.s.db.Erased()
			}
			return out, nil
		})
	}})
}

// finish registers what was collected, literal paths before those with
// parameters: the router takes the first that matches.
func (a *api) finish() {
	slices.SortStableFunc(a.pending, func(x, y pendingOperation) int { return strings.Compare(rank(x.path), rank(y.path)) })
	for _, p := range a.pending {
		a.literal[p.path] = !strings.Contains(p.path, "{")
		p.register()
	}
	a.pending = nil
}

// owns says whether a route is for a path. A literal path is not taken for one
// with parameters by a method that it does not have: DELETE /user/login
// deletes no user.
func (a *api) owns(path string, route *mux.Route) bool {
	template, err := route.GetPathTemplate()
	return err == nil && (template == path || !a.literal[path])
}

// rank sorts a parameter behind every literal.
func rank(path string) string { return strings.ReplaceAll(path, "{", "\U0010FFFF") }

// declare is what huma needs to know.
func (a *api) declare(op operation, need auth.Permission, body bool) huma.Operation {
	if need == "" {
		panic("server: " + op.id + " declares no permission")
	}
	if op.status == 0 {
		op.status = http.StatusOK
	}
	if op.maxBody == 0 {
		op.maxBody = defaultBody
	}
	service, _, ok := strings.Cut(op.id, "_")
	if !ok {
		panic("server: " + op.id + " is no <Service>_<Method>")
	}
	out := huma.Operation{
		OperationID: op.id, Method: op.method, Path: op.path, Summary: op.summary, Description: about(op, need),
		Tags: []string{service}, DefaultStatus: op.status, Security: security(need),
		MaxBodyBytes:    op.maxBody + 1, // huma refuses a body of exactly as many
		BodyReadTimeout: -1,             // see paced
		Errors:          refusals(op, need, body), Metadata: map[string]any{limited: op.limited, self: op.self, boundTo: bindingOf(op, need)},
		Extensions: map[string]any{},
	}
	if op.login {
		out.Extensions[loginOnly] = true
	}
	if op.owner {
		out.Extensions[ownerOnly] = true
	}
	if b := bindingOf(op, need).document(); len(b) > 0 {
		out.Extensions[boundDocument] = b
	}
	return out
}

// security is what the document says and the guard reads.
func security(need auth.Permission) []map[string][]string {
	switch need {
	case anyone:
		return []map[string][]string{}
	case anyUser:
		return []map[string][]string{{bearer: {}}, {cookie: {}}}
	}
	return []map[string][]string{{bearer: {string(need)}}, {cookie: {string(need)}}}
}

func about(op operation, need auth.Permission) string {
	parts := []string{}
	if op.about != "" {
		parts = append(parts, op.about)
	}
	if need != anyone && need != anyUser {
		parts = append(parts, "Needs the permission `"+string(need)+"`.")
	}
	if op.owner {
		parts = append(parts, "Only an owner of the account may do it.")
	}
	if op.login {
		parts = append(parts, "A scoped token is refused.")
	}
	return strings.Join(parts, "\n\n")
}

// refusals are the statuses of the problems that an operation may answer.
func refusals(op operation, need auth.Permission, body bool) []int {
	out := slices.Clone(op.errors)
	if need != anyone {
		out = append(out, http.StatusUnauthorized)
		if need != anyUser || op.login || op.method != http.MethodGet { // a cookie may come from elsewhere
			out = append(out, http.StatusForbidden)
		}
	}
	if body {
		out = append(out, http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType)
	}
	if need != anyone || op.limited {
		out = append(out, http.StatusTooManyRequests)
	}
	out = append(out, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusServiceUnavailable)
	slices.Sort(out)
	return slices.Compact(out)
}

// hasBody says whether an input has a body.
func hasBody[I any]() bool {
	t := reflect.TypeFor[I]()
	_, body := t.FieldByName("Body")
	_, raw := t.FieldByName("RawBody")
	return body || raw
}
