package accounts

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// Audit answers with what was done in an account.
type Audit struct {
	BaseURL string
	Log     *slog.Logger
	Store   *auditlog.Store
}

// Register adds the operations of the resource.
func (a *Audit) Register(api *httpapi.API) {
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Server_AuditLog", Method: http.MethodGet, Path: "/audit", Summary: "List the entries of the audit log, newest first",
		About: "Every change has an entry, which is written in the transaction of the change: who did what to which object, and from where. Logins, failed " +
			"logins and exports have entries, too. An entry has the names of the changed fields, but no secrets and no texts of messages. " +
			"With `format=csv` the response is a CSV document of up to 50,000 entries. If there are more, its header `Link` has the address of the next document.",
	}, auth.UsersManage, a.list)
}

type accountAuditFilter struct {
	User       string `query:"user" maxLength:"64" doc:"Only actions of this user: an id."`
	Kind       string `query:"kind" enum:"cookie,login,token,agent,operator,system,nobody" doc:"Only actions of this kind of actor."`
	Action     string `query:"action" maxLength:"64" doc:"Only this action." example:"reference.update"`
	ObjectType string `query:"objectType" maxLength:"64" doc:"Only actions on objects of this type." example:"reference"`
	ObjectID   string `query:"objectId" maxLength:"200" doc:"Only actions on the object with this id."`
	Reference  int64  `query:"reference" minimum:"0" doc:"Only actions on this reference or on its objects."`
	Since      int64  `query:"since" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only entries at this time or later."`
	Until      int64  `query:"until" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only entries before this time. Default, and 0: now."`
	Limit      int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Number of entries on a page. Does not apply to CSV."`
	Cursor     string `query:"cursor" maxLength:"200" doc:"The next of the previous page."`
	Format     string `query:"format" enum:"json,csv" default:"json" doc:"csv: return a CSV document instead of a page."`
}

func (in *accountAuditFilter) filter() auditlog.Filter {
	return auditlog.Filter{
		User: in.User, Kind: in.Kind, Action: in.Action, ObjectType: in.ObjectType, ObjectID: in.ObjectID, Reference: in.Reference,
		Since: view.Instant(in.Since), Until: view.Instant(in.Until), Limit: in.Limit, Cursor: in.Cursor,
	}
}

// auditEntry is an entry of the audit log of an account.
type auditEntry struct {
	ID        string             `json:"id"`
	At        messaging.UnixTime `json:"at"`
	Action    string             `json:"action" doc:"The action. docs/audit.md lists all." example:"reference.update"`
	Actor     auditActor         `json:"actor"`
	Address   *string            `json:"address" doc:"Address of the client; null if there was no request."`
	RequestID *string            `json:"requestId" doc:"X-Request-Id of the response; null if there was no request."`
	Object    auditObject        `json:"object"`
	Reference *int64             `json:"reference" doc:"The reference that the object is or belongs to."`
	Details   view.Document      `json:"details" doc:"An object. changed has the names of the changed fields; other members depend on the action."`
}

type auditActor struct {
	Kind    string  `json:"kind" enum:"cookie,login,token,agent,operator,system,nobody" doc:"cookie: a person in a browser; login: the token of a login; token: a token for programs; agent: a model or a flow; operator: the server's command line; system: the server itself; nobody: a login that failed."`
	UserID  *string `json:"userId" doc:"Id of the user, who may have been deleted since."`
	Email   *string `json:"email" doc:"E-mail of the user at that time."`
	TokenID *string `json:"tokenId" doc:"Id of the token that was used."`
	RunID   *string `json:"runId" doc:"Id of the run in which an agent acted."`
}

type auditObject struct {
	Type string  `json:"type" example:"reference"`
	ID   *string `json:"id" doc:"null if it has none, or is an erased contact."`
	Name *string `json:"name" doc:"Name of the object at that time."`
}

func viewAuditEntry(e auditlog.Entry) auditEntry {
	v := auditEntry{
		ID: e.ID, At: messaging.UnixTime{Time: e.At}, Action: string(e.Action), Address: view.OrNull(e.Address), RequestID: view.OrNull(e.Request),
		Actor:   auditActor{Kind: string(e.Kind), UserID: view.OrNull(e.User), Email: view.OrNull(e.Email), TokenID: view.OrNull(e.Token), RunID: view.OrNull(e.Run)},
		Object:  auditObject{Type: e.ObjectType, ID: view.OrNull(e.ObjectID), Name: view.OrNull(e.ObjectName)},
		Details: view.Document(e.Details),
	}
	if e.Reference != 0 {
		v.Reference = &e.Reference
	}
	return v
}

func (a *Audit) list(ctx context.Context, c httpapi.Call, in *accountAuditFilter) (*huma.StreamResponse, error) {
	if in.Format == "csv" {
		return a.export(ctx, c, in)
	}
	p, err := a.Store.List(ctx, c.Account, in.filter())
	if err != nil {
		return nil, httpapi.InQuery(err)
	}
	b, err := json.Marshal(view.PageOf(p, viewAuditEntry))
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "application/json")
		hc.SetStatus(http.StatusOK)
		_, _ = hc.BodyWriter().Write(b) // a client that has gone
	}}, nil
}

// export writes the log as CSV, which is an entry of the log itself.
func (a *Audit) export(ctx context.Context, c httpapi.Call, in *accountAuditFilter) (*huma.StreamResponse, error) {
	x, err := a.Store.Export(ctx, c.Account, in.filter(), auditlog.MaxCSV)
	if err != nil {
		return nil, httpapi.InQuery(err)
	}
	if err := a.Store.Record(ctx, audit.Entry{Action: audit.AuditExport}); err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "text/csv; charset=utf-8; header=present")
		hc.SetHeader("Content-Disposition", `attachment; filename="audit.csv"`)
		if x.Next != "" {
			u := hc.URL()
			q := u.Query()
			q.Set("cursor", x.Next)
			hc.SetHeader("Link", "<"+a.BaseURL+"/audit?"+q.Encode()+`>; rel="next"`)
		}
		hc.SetStatus(http.StatusOK)
		if httpapi.RequestOf(ctx).Head {
			return
		}
		if err := x.Write(ctx, httpapi.StreamWriter{Context: hc}); err != nil {
			if ctx.Err() == nil {
				a.Log.WarnContext(ctx, "exporting the audit log", slog.Any("error", err))
			}
			panic(http.ErrAbortHandler) // half of it must not look like all of it
		}
	}}, nil
}

// DescribeAudit adds both forms of the log, which are written by hand, to the
// document.
func DescribeAudit(doc *huma.OpenAPI) {
	r := doc.Paths["/audit"].Get.Responses["200"]
	r.Description = "A page of the log, or the log as CSV."
	r.Content = map[string]*huma.MediaType{
		"application/json": {Schema: doc.Components.Schemas.Schema(reflect.TypeFor[view.Page[auditEntry]](), true, "")},
		"text/csv":         {Schema: &huma.Schema{Type: huma.TypeString}},
	}
	r.Headers = map[string]*huma.Param{"Link": {
		Description: "The address of the next CSV document, with rel=next. Absent if there are no more entries.", Schema: &huma.Schema{Type: huma.TypeString},
	}}
}
