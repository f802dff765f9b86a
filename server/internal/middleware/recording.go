package middleware

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// Recording writes changes into the audit logs of accounts.
type Recording struct{ Store *auditlog.Store }

// Context returns a context whose changes are recorded as those of the caller
// of a request. The zero Caller is no user: package auth names the account.
func (r Recording) Context(ctx context.Context, req *httpapi.Request, by auth.Caller) context.Context {
	from := audit.Origin{Request: req.ID}
	if req.Client.IsValid() {
		from.Address = req.Client.String()
	}
	return audit.As(audit.With(ctx, r.Store, from), recordedActor(by))
}

// Worker returns a worker whose changes are recorded in the accounts that it
// names with [audit.As].
func (r Recording) Worker(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error { return run(audit.With(ctx, r.Store, audit.Origin{})) }
}

// Agent is [Recording.Context] for a caller that [Guard.Token] has admitted.
func (r Recording) Agent(ctx context.Context) context.Context {
	req := httpapi.RequestOf(ctx)
	return r.Context(ctx, req, req.Caller)
}

func recordedActor(by auth.Caller) audit.Actor {
	a := audit.Actor{Account: by.Account, User: by.User, Email: by.Email, Token: by.TokenID}
	switch {
	case by.Account == "":
		a.Kind = audit.Nobody
	case by.Cookie:
		a.Kind = audit.Cookie
	case by.Scoped:
		a.Kind = audit.Token
	default:
		a.Kind = audit.Login
	}
	return a
}
