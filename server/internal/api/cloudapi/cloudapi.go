// Package cloudapi takes the requests of programs that were written for Meta's WhatsApp
// Cloud API: https://developers.facebook.com/docs/whatsapp/cloud-api/reference. They
// send on any reference, whatever its network is, after a change of their base URL and
// token. Its routes are no operations of the API: bodies and errors are Meta's.
package cloudapi

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// The routes.
const (
	objectPath   = "/{version}/{object}"
	messagesPath = objectPath + "/messages"
	mediaPath    = objectPath + "/media"
)

// API serves the routes.
type API struct {
	BaseURL   string // where files are downloaded
	Messaging *messaging.Service
	Problem   func(context.Context, error) *httpapi.Problem
	// Token returns whose bearer token a request has.
	Token func(ctx context.Context, token string) (auth.Caller, error)
	// Recorded returns a context whose changes are recorded as the caller's.
	Recorded func(ctx context.Context) context.Context
}

// version is one of Meta's, which are taken as they come: "v23.0".
var version = regexp.MustCompile(`^/v\d+\.\d+/`)

// Mount connects the routes.
func (a *API) Mount(r *mux.Router) {
	for _, route := range []struct {
		method, path string
		serve        func(context.Context, *call) (any, error)
	}{
		{http.MethodPost, messagesPath, a.message},
		{http.MethodPost, mediaPath, a.upload},
		{http.MethodGet, objectPath, a.object},
	} {
		// The version comes first: a path that matches would hide the 405 of other routes.
		r.MatcherFunc(isVersioned).Path(route.path).Methods(route.method).HandlerFunc(a.as(route.serve))
	}
}

func isVersioned(r *http.Request, _ *mux.RouteMatch) bool { return version.MatchString(r.URL.Path) }

// call is a request of a caller.
type call struct {
	w       http.ResponseWriter
	r       *http.Request
	caller  auth.Caller
	account *messaging.Account
	object  string // the id in the path
}

// as serves a route with a function that returns its answer.
func (a *API) as(serve func(context.Context, *call) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		answer, err := a.serve(w, r, serve)
		if err != nil {
			answer = a.refuse(ctx, w, err)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if refused, ok := answer.(*failure); ok {
			w.WriteHeader(refused.status)
		}
		_ = json.NewEncoder(w).Encode(answer) // a client that has gone
	}
}

func (a *API) serve(w http.ResponseWriter, r *http.Request, serve func(context.Context, *call) (any, error)) (any, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || len(r.Header.Values("Authorization")) > 1 {
		return nil, httpapi.NewProblem(httpapi.CodeUnauthorized, "a bearer token is required: Authorization: Bearer <token>")
	}
	ctx := r.Context()
	caller, err := a.Token(ctx, strings.TrimSpace(token))
	if err != nil {
		return nil, err
	}
	return serve(a.Recorded(ctx), &call{w, r, caller, a.Messaging.For(caller.Account), mux.Vars(r)["object"]})
}

// reference returns the reference whose number a request names: by Meta's id of it, or
// by the id of the reference. The caller must have a permission on it.
func (c *call) reference(ctx context.Context, p auth.Permission) (messaging.Reference, error) {
	only, all := c.caller.References(p)
	if !all && len(only) == 0 {
		return messaging.Reference{}, httpapi.MissingPermission(p)
	}
	ids, err := c.account.References().WithNumber(ctx, c.object)
	if err != nil {
		return messaging.Reference{}, err
	}
	if n, err := strconv.ParseInt(c.object, 10, 64); err == nil && len(ids) == 0 {
		ids = []provider.ReferenceID{provider.ReferenceID(n)}
	}
	for _, id := range ids {
		if all || slices.Contains(only, int64(id)) {
			return c.account.References().Get(ctx, id)
		}
	}
	return messaging.Reference{}, messaging.ErrNotFound
}

// number is a phone number as Meta describes it.
type number struct {
	ID      string `json:"id"`
	Display string `json:"display_phone_number"`
	Name    string `json:"verified_name"`
}

// object answers what is known of a file, or of a number.
func (a *API) object(ctx context.Context, c *call) (any, error) {
	m, err := c.account.Media(ctx, c.object)
	if err == nil && c.caller.CanOn(auth.ChatsSend, int64(m.Reference)) {
		return a.describe(m), nil
	}
	ref, err := c.reference(ctx, auth.ChatsSend)
	if err != nil {
		return nil, err
	}
	n := number{ID: c.object, Name: ref.Name}
	if of := ref.Session.Account; of != nil {
		n.Display, n.Name = of.ID, cmp.Or(of.VerifiedBizName, of.Name, ref.Name)
	}
	return n, nil
}
