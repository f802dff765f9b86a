package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/server/auth"
)

// BodyGrace is how long a body may take before its pace counts.
const BodyGrace = bodyGrace

type echoBody struct {
	Text  string            `json:"text" maxLength:"20"`
	Count int               `json:"count,omitempty" minimum:"1"`
	Link  string            `json:"link,omitempty" format:"uri"`
	Kind  string            `json:"kind,omitempty" enum:"a,b"`
	Map   map[string]string `json:"map,omitempty"`
}

// AddTestRoutes adds operations that fail in every way and that only tests
// need.
func (s *Server) AddTestRoutes() {
	register(s.api, operation{id: "Test_Echo", method: http.MethodPost, path: "/test/echo", summary: "Echo", maxBody: 2 * mib}, anyone,
		func(_ context.Context, _ call, in *struct {
			Limit int `query:"limit" minimum:"1" maximum:"5"`
			Body  echoBody
		},
		) (echoBody, error) {
			return in.Body, nil
		})
	register(s.api, operation{id: "Test_Any", method: http.MethodGet, path: "/test/{id}", summary: "Any"}, anyone,
		func(_ context.Context, _ call, in *struct {
			ID string `path:"id"`
		},
		) (map[string]string, error) {
			return map[string]string{"any": in.ID}, nil
		})
	register(s.api, operation{id: "Test_Literal", method: http.MethodGet, path: "/test/literal", summary: "Literal"}, anyone,
		func(context.Context, call, *struct{}) (map[string]string, error) {
			return map[string]string{"literal": "yes"}, nil
		})
	register(s.api, operation{id: "Test_Code", method: http.MethodGet, path: "/test/code/{code}", summary: "Code"}, anyone,
		func(_ context.Context, _ call, in *struct {
			Code string `path:"code"`
		},
		) (map[string]string, error) {
			return nil, problem(in.Code, "on purpose").retryAfter(1500 * time.Millisecond)
		})
	register(s.api, operation{id: "Test_Leak", method: http.MethodGet, path: "/test/leak", summary: "Leak"}, anyone,
		func(context.Context, call, *struct{}) (map[string]string, error) {
			return nil, errors.New("pq: password authentication failed")
		})
	register(s.api, operation{id: "Test_Panic", method: http.MethodGet, path: "/test/panic", summary: "Panic"}, anyone,
		func(context.Context, call, *struct{}) (map[string]string, error) { panic("hidden words") })
	register(s.api, operation{id: "Test_Manage", method: http.MethodGet, path: "/test/manage", summary: "Manage"}, auth.UsersManage,
		func(_ context.Context, c call, _ *struct{}) (map[string]string, error) {
			return map[string]string{"account": c.Account}, nil
		})
	register(s.api, operation{id: "Test_Client", method: http.MethodGet, path: "/test/client", summary: "Client"}, anyone,
		func(_ context.Context, c call, _ *struct{}) (map[string]string, error) {
			return map[string]string{"client": c.Client.String()}, nil
		})
	register(s.api, operation{id: "Test_Wait", method: http.MethodPost, path: "/test/wait", summary: "Wait"}, anyone,
		func(ctx context.Context, _ call, _ *struct{ Body echoBody }) (map[string]bool, error) {
			select {
			case <-ctx.Done():
				return map[string]bool{"whole": false}, nil
			case <-time.After(BodyGrace + time.Second):
				return map[string]bool{"whole": true}, nil
			}
		})
	register(s.api, operation{id: "Test_Drain", method: http.MethodGet, path: "/test/drain", summary: "Drain"}, anyone,
		func(ctx context.Context, _ call, _ *struct{}) (map[string]bool, error) {
			select {
			case <-ctx.Done():
				return map[string]bool{"whole": false}, nil
			case <-s.stopping:
				return map[string]bool{"whole": true}, nil
			}
		})
	s.api.finish()
}

// Routes are what the router knows, as "GET /path".
func (s *Server) Routes() []string {
	var out []string
	_ = s.router.Walk(func(r *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		path, err := r.GetPathTemplate()
		methods, merr := r.GetMethods()
		for _, m := range methods {
			out = append(out, m+" "+path)
		}
		return errors.Join(err, merr)
	})
	return out
}

// Codes are the codes of problems with their statuses.
func Codes() map[string]int { return statusOf }

// CheapPasswords makes signing up and logging in take no time.
func (c *Config) CheapPasswords() { c.passwords = auth.Cost{Passes: 1, Memory: 64} }

// WithoutPrograms leaves out what ffmpeg and pdftoppm say of files, which not
// every computer has.
func (c *Config) WithoutPrograms() { c.noPrograms = true }

// WithPrograms undoes it, and gives them as long as a crowded computer may take.
func (c *Config) WithPrograms() { c.noPrograms, c.programTime = false, 5*time.Minute }

// ChangeFlows changes what the flows of a server run with.
func (c *Config) ChangeFlows(change func(*runtime.Options)) { c.flows = change }

// Repetition is what the document says of requests that are sent again, by
// operation.
func Repetition() map[string]string { return repetition }

// Meanings say of each code of a problem what it means, and what to do.
func Meanings() map[string]string { return meanings }

// Known is the problem that clients are told of err; nil: that of an unknown
// failure, a 500.
func Known(err error) *Problem { return known(err) }
