package functions

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// auditRoutes show what agents have done.
func (a *API) auditRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "MCP_Audit", Method: http.MethodGet, Path: "/service-mcp/audit", Summary: "List the calls of functions by agents, the newest first",
		About: "Every call stands here, refused ones too, whichever way it came: over REST, in a batch, or over the protocol. " +
			"Secrets, what was said and what was written are left out of the arguments.",
	}, auth.UsersManage, a.listAudit)
}

type auditFilter struct {
	User     string `query:"user" maxLength:"64" doc:"Only calls of this user, by id."`
	Function string `query:"function" maxLength:"200" doc:"Only calls of this function."`
	Outcome  string `query:"outcome" maxLength:"64" doc:"ok, or the code of an error."`
	From     int64  `query:"from" minimum:"0" maximum:"253402300799" doc:"UNIX seconds: answered then or later."`
	To       int64  `query:"to" minimum:"0" maximum:"253402300799" doc:"UNIX seconds: answered before; 0: now."`
	httpapi.PageInput
}

// auditedCall is a call in the audit log.
type auditedCall struct {
	ID         string             `json:"id"`
	At         messaging.UnixTime `json:"at" doc:"When it was answered."`
	UserID     string             `json:"userId" doc:"Who called."`
	TokenID    *string            `json:"tokenId" doc:"The token for programs that was used; null: that of a log-in."`
	Function   string             `json:"function"`
	Arguments  json.RawMessage    `json:"arguments" doc:"An object of what may be shown of them. Texts in brackets stand for what is left out."`
	DryRun     bool               `json:"dryRun"`
	Outcome    string             `json:"outcome" doc:"ok, or the code of the error." example:"ok"`
	DurationMS float64            `json:"durationMs" doc:"Milliseconds."`
}

func (a *API) listAudit(ctx context.Context, c httpapi.Call, in *auditFilter) (view.Page[auditedCall], error) {
	p, err := a.MCP().For(c.Account).Audit(ctx, mcp.AuditFilter{
		User: in.User, Function: in.Function, Outcome: in.Outcome, From: view.Instant(in.From), To: view.Instant(in.To), Limit: in.Limit, Cursor: in.Cursor,
	})
	if bad, ok := errors.AsType[*mcp.Error](err); ok && bad.Code == mcp.CodeInvalidArguments {
		p := httpapi.NewProblem(httpapi.CodeValidation, "the request is not valid")
		for _, d := range bad.Details {
			p.Errors = append(p.Errors, httpapi.FieldError{Location: "query." + d.Argument, Message: d.Message})
		}
		err = p
	}
	return view.PageOf(p, viewAudited), err
}

func viewAudited(e mcp.AuditEntry) auditedCall {
	v := auditedCall{
		ID: e.ID, At: messaging.UnixTime{Time: e.At}, UserID: e.User, Function: e.Function, Arguments: e.Arguments, DryRun: e.DryRun,
		Outcome: e.Outcome, DurationMS: float64(e.Duration.Microseconds()) / 1e3,
	}
	if e.Token != "" {
		v.TokenID = &e.Token
	}
	return v
}
