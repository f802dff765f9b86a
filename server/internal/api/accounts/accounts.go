package accounts

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/api/jobs"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/job"
)

// API answers what concerns an account as a whole. T is an account as its users
// see it.
type API[T any] struct {
	Auth  *auth.Service
	Close func(ctx context.Context, account string) (job.Job, error) // begins to delete it
	Log   *slog.Logger
	Show  func(ctx context.Context, account string) (T, error)
}

// Register adds the operations of the resource.
func (a *API[T]) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Server_Account", Method: http.MethodGet, Path: "/account", Summary: "Show the account, its subscription and its usage",
	}, httpapi.AnyUser, a.show)
	httpapi.Register(api, httpapi.Operation{
		ID: "Server_DeleteAccount", Method: http.MethodDelete, Path: "/account", Status: http.StatusAccepted,
		Summary: "Delete the account and all of its data",
		About: "Requires the caller's own password. All users, tokens and sessions of the account end at once, and so do the sessions of its references. " +
			"A job then erases chats, messages, files, webhooks and logs after the response.",
		Login: true, Owner: true,
	}, httpapi.AnyUser, a.delete)
}

func (a *API[T]) show(ctx context.Context, c httpapi.Call, _ *struct{}) (T, error) {
	return a.Show(ctx, c.Account)
}

type deleteAccount struct {
	Body struct {
		Password string `json:"password" minLength:"1" maxLength:"1000" doc:"The caller's own password."`
	}
}

func (a *API[T]) delete(ctx context.Context, c httpapi.Call, in *deleteAccount) (jobs.Deleting, error) {
	if err := a.Auth.Users().ConfirmPassword(ctx, c.Caller, in.Body.Password, c.Client); err != nil {
		return jobs.Deleting{}, err
	}
	j, err := a.Close(ctx, c.Account)
	if err != nil {
		return jobs.Deleting{}, err
	}
	// The audit log goes with the account.
	a.Log.InfoContext(ctx, "a user has closed the account", slog.String("account", c.Account), slog.String("user", c.User), slog.String("address", c.Client.String()))
	return jobs.Deleting{Success: true, Job: jobs.NewView(j)}, nil
}
