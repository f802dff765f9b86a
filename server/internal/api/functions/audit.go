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
		ID: "MCP_Audit", Method: http.MethodGet, Path: "/service-mcp/audit", Summary: "List the calls of functions by agents, newest first",
		About: "Includes refused calls and all ways to call: REST, batches and MCP. " +
			"Secrets and texts of messages are left out of the arguments.",
	}, auth.UsersManage, a.listAudit)
}

type auditFilter struct {
	User     string `query:"user" maxLength:"64" doc:"Only calls by this user: an id."`
	Function string `query:"function" maxLength:"200" doc:"Only calls of this function."`
	Outcome  string `query:"outcome" maxLength:"64" doc:"ok, or an error code."`
	From     int64  `query:"from" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only calls answered at this time or later."`
	To       int64  `query:"to" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only calls answered before this time. Default, and 0: now."`
	httpapi.PageInput
}

// auditedCall is a call in the audit log.
type auditedCall struct {
	ID         string             `json:"id"`
	At         messaging.UnixTime `json:"at" doc:"Time of the answer."`
	UserID     string             `json:"userId" doc:"Id of the caller."`
	TokenID    *string            `json:"tokenId" doc:"Id of the token for programs that was used; null if it was the token of a login."`
	Function   string             `json:"function"`
	Arguments  json.RawMessage    `json:"arguments" doc:"The arguments, as an object. A text in brackets replaces a value that is not recorded."`
	DryRun     bool               `json:"dryRun"`
	Outcome    string             `json:"outcome" doc:"ok, or an error code." example:"ok"`
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
