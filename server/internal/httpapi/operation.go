package httpapi

import (
	"cmp"
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

// API collects operations and makes routes and a document of them.
type API struct {
	opts       Options
	operations []operation     // in the order of their routes
	pending    []operation     // without routes yet
	literal    map[string]bool // paths without parameters
	describe   []func(*huma.OpenAPI)
}

// Options are what an API needs of the server that it belongs to.
type Options struct {
	Router  *mux.Router
	Version string
	BaseURL string
	Cookie  string // name of the session cookie
	// Schemas tells the registry how values are written that their Go types do
	// not show.
	Schemas func(huma.Registry)
	// Guard is the first middleware of every operation. It gives the handler
	// its call, with withCall.
	Guard func(c huma.Context, next func(huma.Context))
	// NewProblem translates an error for the client.
	Problem func(context.Context, error) *Problem
	// Inside reports whether what an operation names belongs to a reference
	// that the caller reaches. what is the name of the parameter.
	Inside func(ctx context.Context, c Call, what, id string) (bool, error)
	// Deleted is called after every operation that deletes something.
	Deleted func()
}

// operation is an [Operation] with its types and its handler, which register gives to
// an API of huma.
type operation struct {
	Operation
	register func(huma.API)
}

// Operation declares a route of the REST API. All that follows from it (the
// document, the checks, the problems) is made by [Register].
type Operation struct {
	ID      string // "<Service>_<Method>" of the Go API
	Method  string
	Path    string // "/bot/{id}"
	Summary string // one line without a full stop
	About   string // further sentences; "": none
	Status  int    // of success; 0: 200
	MaxBody int64  // bytes; 0: 1 MiB
	Errors  []int  // statuses beyond those that follow from the rest
	Limited bool   // 60 a minute and address
	Login   bool   // a scoped token never suffices: its owner must have logged in
	Owner   bool   // only an owner of the account
	On      Binding
	Checker any    // what Resolve of the input asks, see checkerOf
	Self    string // parameter of the path: who does not name himself in it needs users.manage; "": none
}

// Permissions that are none.
const (
	Anyone    auth.Permission = "anyone"   // no token is needed
	AnyUser   auth.Permission = "any user" // a token is, but no permission
	problems                  = "Problem"  // schema of refusals
	limited                   = "limited"  // metadata key
	self                      = "self"     // metadata key
	checker                   = "checker"  // metadata key
	loginOnly                 = "x-login-only"
	ownerOnly                 = "x-owner-only"
)

// Names of the security schemes.
const (
	bearer = "bearer"
	cookie = "cookie"
)

// Call is who makes a request, and from where.
type Call struct {
	auth.Caller            // zero where no token is needed
	Client      netip.Addr // behind trusted proxies
	Agent       string     // what the client calls itself
	Device      string     // of the browser, from a login before
	Foreign     bool       // a page of another site makes the request, and it is none that only reads
	Only        []int64    // the references on which the caller has the operation's permission; nil: all
}

type callKey struct{}

// WithCall gives the handler of an operation its call.
func WithCall(c huma.Context, who Call) huma.Context { return huma.WithValue(c, callKey{}, who) }

// Reply is the answer of an operation that has nothing but a body.
type Reply[T any] struct{ Body T }

// Register adds an operation whose handler returns the JSON of the answer. I
// is a huma input: path, query and header fields by tag, and Body. The caller
// has the permission when the handler runs. Paths may be registered in any
// order: literal ones win over those with {parameters}.
func Register[I, T any](a *API, op Operation, need auth.Permission, handler func(context.Context, Call, *I) (T, error)) {
	RegisterReply(a, op, need, func(ctx context.Context, c Call, in *I) (*Reply[T], error) {
		out, err := handler(ctx, c, in)
		return &Reply[T]{out}, err
	})
}

// RegisterReply is [Register] for operations that choose a status or headers
// of their own: O is a huma output.
func RegisterReply[I, O any](a *API, op Operation, need auth.Permission, handler func(context.Context, Call, *I) (*O, error)) {
	op.check(need)
	within := newBounds(op, need, reflect.TypeFor[I]())
	a.pending = append(a.pending, operation{op, func(h huma.API) {
		huma.Register(h, a.declare(op, need, hasBody[I]()), func(ctx context.Context, in *I) (*O, error) {
			c, _ := ctx.Value(callKey{}).(Call)
			if err := within.narrow(ctx, a.opts.Inside, c, in); err != nil {
				return nil, a.opts.Problem(ctx, err)
			}
			out, err := handler(ctx, c, in)
			if err != nil {
				return nil, a.opts.Problem(ctx, err)
			}
			if op.Method == http.MethodDelete {
				a.opts.Deleted()
			}
			return out, nil
		})
	}})
}

// Finish adds routes for what was collected, literal paths before those with
// parameters: the router takes the first that matches.
func (a *API) Finish() {
	slices.SortStableFunc(a.pending, func(x, y operation) int { return strings.Compare(rank(x.Path), rank(y.Path)) })
	for _, op := range a.pending {
		a.literal[op.Path] = !strings.Contains(op.Path, "{")
		a.addRoute(op)
	}
	a.operations = append(a.operations, a.pending...)
	a.pending = nil
}

// Owns says whether a route is for a path. A literal path is not taken for one
// with parameters by a method that it does not have: DELETE /user/login
// deletes no user.
func (a *API) Owns(path string, route *mux.Route) bool {
	template, err := route.GetPathTemplate()
	return err == nil && (template == path || !a.literal[path])
}

// rank sorts a parameter behind every literal.
func rank(path string) string { return strings.ReplaceAll(path, "{", "\U0010FFFF") }

// check panics if a declaration is not complete, when the server is made.
func (op Operation) check(need auth.Permission) {
	if need == "" {
		panic("server: " + op.ID + " declares no permission")
	}
	if !strings.Contains(op.ID, "_") {
		panic("server: " + op.ID + " is no <Service>_<Method>")
	}
}

// declare is what huma needs to know.
func (a *API) declare(op Operation, need auth.Permission, body bool) huma.Operation {
	op.Status = cmp.Or(op.Status, http.StatusOK)
	op.MaxBody = cmp.Or(op.MaxBody, DefaultMaxBody)
	service, _, _ := strings.Cut(op.ID, "_")
	out := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: about(op, need),
		Tags: []string{service}, DefaultStatus: op.Status, Security: security(need),
		MaxBodyBytes:    op.MaxBody + 1, // huma refuses a body of exactly as many
		BodyReadTimeout: -1,             // see paced
		Errors:          refusedStatuses(op, need, body), Metadata: map[string]any{limited: op.Limited, self: op.Self, boundTo: bindingOf(op, need), checker: op.Checker},
		Extensions: map[string]any{},
	}
	if op.Login {
		out.Extensions[loginOnly] = true
	}
	if op.Owner {
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
	case Anyone:
		return []map[string][]string{}
	case AnyUser:
		return []map[string][]string{{bearer: {}}, {cookie: {}}}
	}
	return []map[string][]string{{bearer: {string(need)}}, {cookie: {string(need)}}}
}

func about(op Operation, need auth.Permission) string {
	parts := []string{}
	if op.About != "" {
		parts = append(parts, op.About)
	}
	if need != Anyone && need != AnyUser {
		parts = append(parts, "Needs the permission `"+string(need)+"`.")
	}
	if op.Owner {
		parts = append(parts, "Only an owner of the account may use it.")
	}
	if op.Login {
		parts = append(parts, "A scoped token is refused.")
	}
	return strings.Join(parts, "\n\n")
}

// refusedStatuses are the statuses of the problems that an operation may answer.
func refusedStatuses(op Operation, need auth.Permission, body bool) []int {
	out := slices.Clone(op.Errors)
	if need != Anyone {
		out = append(out, http.StatusUnauthorized)
		if need != AnyUser || op.Login || op.Method != http.MethodGet { // a cookie may come from elsewhere
			out = append(out, http.StatusForbidden)
		}
	}
	if body {
		out = append(out, http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
			http.StatusUnsupportedMediaType)
	}
	if need != Anyone || op.Limited {
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
