package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/server/job"
)

// The kinds of jobs. What an account has left is erased by [Server.eraseAccounts].
const (
	jobChat      = "chat"
	jobReference = "reference"
	jobAccount   = "account"
)

func (s *Server) jobRoutes(a *httpapi.API) {
	httpapi.Register(a, httpapi.Operation{
		ID: "Server_Job", Method: http.MethodGet, Path: "/jobs/{id}", Summary: "Show a job: what goes on behind an answer",
		About: "The answer to the deletion of a chat, a reference or the account has its job. What is being deleted is not listed or served any more. " +
			"A job that has ended is shown for 30 days. The job of a deleted account ends with the account's users: there is nobody left to ask for it.",
		Errors: []int{http.StatusNotFound},
	}, httpapi.AnyUser, s.showJob)
}

// jobView is a job as users see it.
type jobView struct {
	ID        string                `json:"id" example:"7f9c24e8-3b12-4fef-91e0-1a2b3c4d5e6f"`
	Kind      string                `json:"kind" enum:"chat,reference,account" doc:"What is being deleted."`
	Reference *provider.ReferenceID `json:"reference" doc:"That it is, or in which the chat was; null: it is the account."`
	State     string                `json:"state" enum:"running,completed"`
	CreatedAt messaging.UnixTime    `json:"createdAt"`
	EndedAt   *messaging.UnixTime   `json:"endedAt"`
}

func viewJob(j job.Job) jobView {
	v := jobView{ID: j.ID, Kind: j.Kind, State: "running", CreatedAt: messaging.UnixTime{Time: j.CreatedAt}}
	if j.Reference != 0 {
		v.Reference = new(provider.ReferenceID(j.Reference))
	}
	if !j.EndedAt.IsZero() {
		v.State, v.EndedAt = "completed", &messaging.UnixTime{Time: j.EndedAt}
	}
	return v
}

// deleting is the answer of a deletion that has begun.
type deleting struct {
	Success bool    `json:"success"`
	Job     jobView `json:"job"`
}

type jobID struct {
	ID string `path:"id" maxLength:"64" doc:"Id of the job."`
}

func (s *Server) showJob(ctx context.Context, c httpapi.Call, in *jobID) (jobView, error) {
	j, err := s.Jobs.Job(ctx, c.Account, in.ID)
	if errors.Is(err, job.ErrNotFound) {
		return jobView{}, httpapi.NewProblem(httpapi.CodeNotFound, "there is no such job")
	}
	return viewJob(j), err
}

func (s *Server) openJobs(ctx context.Context) (err error) {
	s.Jobs, err = job.Open(ctx, s.cfg.DB, &job.Options{
		Kinds:  map[string]job.Do{jobChat: s.eraseChat, jobReference: s.eraseReference},
		Logger: s.cfg.Logger, Now: s.cfg.Now,
	})
	return err
}

func erasureOf(j job.Job) (e messaging.Erasure, err error) {
	if err := json.Unmarshal(j.Args, &e); err != nil {
		return e, fmt.Errorf("reading a deletion: %w", err)
	}
	return e, nil
}

// eraseChat removes a chat that is hidden.
func (s *Server) eraseChat(ctx context.Context, j job.Job) error {
	e, err := erasureOf(j)
	if err != nil {
		return err
	}
	if err := s.Messaging.For(j.Account).Erase(ctx, e); err != nil {
		return err
	}
	s.db.Erased()
	return nil
}

// eraseReference removes a reference that is hidden, with all that belongs to it
// in other packages.
func (s *Server) eraseReference(ctx context.Context, j job.Job) error {
	e, err := erasureOf(j)
	if err != nil {
		return err
	}
	for _, erase := range []func() error{
		func() error { return s.Webhooks.For(j.Account).DeleteScope(ctx, view.WebhookScope(e.Reference)) },
		func() error { return s.Bots.For(j.Account).DeleteReference(ctx, j.Reference) },
		func() error { return s.Flows.For(j.Account).DeleteReference(ctx, j.Reference) },
		func() error { return s.Extractors.For(j.Account).DeleteReference(ctx, j.Reference) },
		func() error { return s.Runs.For(j.Account).Erase(ctx, runtime.Erasure{Reference: j.Reference}) },
		func() error { return s.Memory.For(j.Account).Erase(ctx, memory.Erasure{Reference: j.Reference}) },
		func() error { return s.Usage.For(j.Account).Erase(ctx, j.Reference, nil, e.At) },
		func() error { return s.Messaging.For(j.Account).Erase(ctx, e) },
	} {
		if err := erase(); err != nil {
			return err
		}
	}
	s.db.Erased()
	return nil
}
