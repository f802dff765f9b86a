package jobs

import (
	"context"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/job"
)

// The kinds of jobs.
const (
	Chat      = "chat"
	Reference = "reference"
	Account   = "account"
)

// API answers what concerns jobs.
type API struct {
	Jobs *job.Service
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Server_Job", Method: http.MethodGet, Path: "/jobs/{id}", Summary: "Show a background job",
		About: "The response to the deletion of a chat, a reference or the account has its job. The object is no longer listed or found meanwhile. " +
			"A finished job is shown for 30 days. The job of a deleted account cannot be shown after the account's users are erased.",
		Errors: []int{http.StatusNotFound},
	}, httpapi.AnyUser, a.showJob)
}

// JobView is a job as users see it.
type JobView struct {
	ID        string                `json:"id" example:"7f9c24e8-3b12-4fef-91e0-1a2b3c4d5e6f"`
	Kind      string                `json:"kind" enum:"chat,reference,account" doc:"What the job deletes."`
	Reference *provider.ReferenceID `json:"reference" doc:"Id of the deleted reference, or of the deleted chat's reference; null if the account is deleted."`
	State     string                `json:"state" enum:"running,completed"`
	CreatedAt messaging.UnixTime    `json:"createdAt"`
	EndedAt   *messaging.UnixTime   `json:"endedAt"`
}

// NewView returns a job as users see it.
func NewView(j job.Job) JobView {
	v := JobView{ID: j.ID, Kind: j.Kind, State: "running", CreatedAt: messaging.UnixTime{Time: j.CreatedAt}}
	if j.Reference != 0 {
		v.Reference = new(provider.ReferenceID(j.Reference))
	}
	if !j.EndedAt.IsZero() {
		v.State, v.EndedAt = "completed", &messaging.UnixTime{Time: j.EndedAt}
	}
	return v
}

// Deleting is the answer of a deletion that has begun.
type Deleting struct {
	Success bool    `json:"success"`
	Job     JobView `json:"job"`
}

type jobID struct {
	ID string `path:"id" maxLength:"64" doc:"Id of the job."`
}

func (a *API) showJob(ctx context.Context, c httpapi.Call, in *jobID) (JobView, error) {
	j, err := a.Jobs.Job(ctx, c.Account, in.ID)
	if errors.Is(err, job.ErrNotFound) {
		return JobView{}, httpapi.NewProblem(httpapi.CodeNotFound, "there is no such job")
	}
	return NewView(j), err
}
