package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
	"github.com/trunklinehq/trunkline/server/internal/openapi"
)

// BodyGrace is how long a body may take before its pace counts.
const BodyGrace = middleware.BodyGrace

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
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Echo", Method: http.MethodPost, Path: "/test/echo", Summary: "Echo", MaxBody: 2 * httpapi.MiB}, httpapi.Anyone,
		func(_ context.Context, _ httpapi.Call, in *struct {
			Limit int `query:"limit" minimum:"1" maximum:"5"`
			Body  echoBody
		},
		) (echoBody, error) {
			return in.Body, nil
		})
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Any", Method: http.MethodGet, Path: "/test/{id}", Summary: "Any"}, httpapi.Anyone,
		func(_ context.Context, _ httpapi.Call, in *struct {
			ID string `path:"id"`
		},
		) (map[string]string, error) {
			return map[string]string{"any": in.ID}, nil
		})
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Literal", Method: http.MethodGet, Path: "/test/literal", Summary: "Literal"}, httpapi.Anyone,
		func(context.Context, httpapi.Call, *struct{}) (map[string]string, error) {
			return map[string]string{"literal": "yes"}, nil
		})
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Code", Method: http.MethodGet, Path: "/test/code/{code}", Summary: "Code"}, httpapi.Anyone,
		func(_ context.Context, _ httpapi.Call, in *struct {
			Code string `path:"code"`
		},
		) (map[string]string, error) {
			return nil, httpapi.NewProblem(in.Code, "on purpose").RetryAfter(1500 * time.Millisecond)
		})
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Leak", Method: http.MethodGet, Path: "/test/leak", Summary: "Leak"}, httpapi.Anyone,
		func(context.Context, httpapi.Call, *struct{}) (map[string]string, error) {
			return nil, errors.New("pq: password authentication failed")
		})
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Panic", Method: http.MethodGet, Path: "/test/panic", Summary: "Panic"}, httpapi.Anyone,
		func(context.Context, httpapi.Call, *struct{}) (map[string]string, error) { panic("hidden words") })
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Manage", Method: http.MethodGet, Path: "/test/manage", Summary: "Manage"}, auth.UsersManage,
		func(_ context.Context, c httpapi.Call, _ *struct{}) (map[string]string, error) {
			return map[string]string{"account": c.Account}, nil
		})
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Client", Method: http.MethodGet, Path: "/test/client", Summary: "Client"}, httpapi.Anyone,
		func(_ context.Context, c httpapi.Call, _ *struct{}) (map[string]string, error) {
			return map[string]string{"client": c.Client.String()}, nil
		})
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Wait", Method: http.MethodPost, Path: "/test/wait", Summary: "Wait"}, httpapi.Anyone,
		func(ctx context.Context, _ httpapi.Call, _ *struct{ Body echoBody }) (map[string]bool, error) {
			select {
			case <-ctx.Done():
				return map[string]bool{"whole": false}, nil
			case <-time.After(BodyGrace + time.Second):
				return map[string]bool{"whole": true}, nil
			}
		})
	httpapi.Register(s.api, httpapi.Operation{ID: "Test_Drain", Method: http.MethodGet, Path: "/test/drain", Summary: "Drain"}, httpapi.Anyone,
		func(ctx context.Context, _ httpapi.Call, _ *struct{}) (map[string]bool, error) {
			select {
			case <-ctx.Done():
				return map[string]bool{"whole": false}, nil
			case <-s.stopping:
				return map[string]bool{"whole": true}, nil
			}
		})
	s.api.Finish()
}

// Commits is sent after each commit of the server.
func (s *Server) Commits() *testsignal.Signal { return &s.db.Commits }

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
func Codes() map[string]int { return httpapi.StatusOf }

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
func Repetition() map[string]string { return openapi.Repetition }

// Meanings maps each code of a problem to what happened and what the caller can do.
func Meanings() map[string]string { return httpapi.Meanings }

// Known is the problem that clients are told of err; nil: that of an unknown
// failure, a 500.
func Known(err error) *Problem { return translations.Problem(err) }
