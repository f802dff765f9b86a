package remotes

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/mcp/remote"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// API answers what concerns foreign MCP servers.
type API struct {
	Credentials *credential.Service
	DB          *database.DB
	Remote      *remote.Service
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	const path = "/aiflow/server/{serverId}"
	missing := []int{http.StatusNotFound}
	httpapi.Register(api, httpapi.Operation{
		ID: "Remote_Create", Method: http.MethodPost, Path: "/aiflow/server", Status: http.StatusCreated, Summary: "Register a foreign MCP server",
		About: "Flows and agents call it by its name. Its tools are fetched with `refresh`, and each tool must be approved before it can be used. " +
			"It must have a public address and use https, unless --webhook-allow has its host.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, auth.FlowsManage, a.createRemote)
	httpapi.Register(api, httpapi.Operation{
		ID: "Remote_Servers", Method: http.MethodGet, Path: "/aiflow/server", Summary: "List foreign MCP servers, oldest first",
	}, auth.FlowsManage, a.listRemotes)
	httpapi.Register(api, httpapi.Operation{
		ID: "Remote_Server", Method: http.MethodGet, Path: path, Summary: "Show a foreign MCP server with its tools", Errors: missing,
	}, auth.FlowsManage, a.showRemote)
	httpapi.Register(api, httpapi.Operation{
		ID: "Remote_Update", Method: http.MethodPatch, Path: path, Summary: "Change a foreign MCP server, or approve its tools",
		About: "An approval is for the `hash` of the tool's name, description, schema and hints. If the tool has changed since, the answer is 409. A tool that changes later " +
			"cannot be used until it is approved again. A change of `url` removes all tools. `credential` \"\" removes the credential.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, auth.FlowsManage, a.updateRemote)
	httpapi.Register(api, httpapi.Operation{
		ID: "Remote_Delete", Method: http.MethodDelete, Path: path, Summary: "Delete a foreign MCP server",
		About: "Tool nodes that call it end with the error `mcp.connect`, and flows that use it cannot be published.", Errors: missing,
	}, auth.FlowsManage, a.deleteRemote)
	httpapi.Register(api, httpapi.Operation{
		ID: "Remote_Refresh", Method: http.MethodPost, Path: path + "/refresh", Summary: "Fetch the tools of a foreign MCP server",
		About:  "Uses a new connection and takes at most 25 seconds. A server that fails answers 502, and `problem` has the reason.",
		Errors: []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.FlowsManage, a.refreshRemote)
}

type remoteToolView struct {
	Name        string        `json:"name"`
	Description string        `json:"description" doc:"The server's own description."`
	Schema      view.Document `json:"schema" doc:"JSON Schema of the arguments."`
	ReadOnly    bool          `json:"readOnly" doc:"Whether the tool changes nothing, according to its server."`
	Idempotent  bool          `json:"idempotent" doc:"Whether a repeated call has no further effect, according to its server."`
	Destructive bool          `json:"destructive" doc:"Whether the tool may delete or overwrite data. true unless its server says otherwise."`
	OpenWorld   bool          `json:"openWorld" doc:"Whether the tool reaches people or systems outside its server. true unless its server says otherwise."`
	Hash        string        `json:"hash" doc:"SHA-256 of the members above."`
	Approved    bool          `json:"approved" doc:"Whether flows may use the tool."`
	Changed     bool          `json:"changed" doc:"Whether the tool was approved and has changed since."`

	Before *approvedTool `json:"before" doc:"The approved definition of a tool that has changed, if it is known."`
}

// approvedTool is what a tool said of itself when it was approved.
type approvedTool struct {
	Description string        `json:"description"`
	Schema      view.Document `json:"schema" doc:"JSON Schema of the arguments."`
	ReadOnly    bool          `json:"readOnly"`
	Idempotent  bool          `json:"idempotent"`
	Destructive bool          `json:"destructive"`
	OpenWorld   bool          `json:"openWorld"`
}

type remoteView struct {
	ID         string              `json:"id"`
	Name       string              `json:"name" example:"shop"`
	URL        string              `json:"url"`
	Credential *string             `json:"credential"`
	Enabled    bool                `json:"enabled"`
	Tools      []remoteToolView    `json:"tools" nullable:"false"`
	CheckedAt  *messaging.UnixTime `json:"checkedAt" doc:"Time when the tools were last fetched."`
	Problem    *string             `json:"problem" doc:"The reason why fetching them failed."`
	CreatedAt  messaging.UnixTime  `json:"createdAt"`
	UpdatedAt  messaging.UnixTime  `json:"updatedAt"`
}

func viewRemote(r remote.Server) remoteView {
	v := remoteView{
		ID: r.ID, Name: r.Name, URL: r.URL, Credential: view.OrNull(r.Credential), Enabled: r.Enabled, Tools: make([]remoteToolView, len(r.Tools)),
		Problem: view.OrNull(r.Problem), CreatedAt: messaging.UnixTime{Time: r.CreatedAt}, UpdatedAt: messaging.UnixTime{Time: r.UpdatedAt},
	}
	if !r.CheckedAt.IsZero() {
		v.CheckedAt = &messaging.UnixTime{Time: r.CheckedAt}
	}
	for i, t := range r.Tools {
		v.Tools[i] = remoteToolView{
			Name: t.Name, Description: t.Description, Schema: view.Document(t.Schema), ReadOnly: t.Hints.ReadOnly, Idempotent: t.Hints.Idempotent,
			Destructive: t.Hints.Destructive, OpenWorld: t.Hints.OpenWorld, Hash: t.Hash, Approved: t.Approved, Changed: t.Changed,
		}
		if b := t.Before; b != nil {
			v.Tools[i].Before = &approvedTool{b.Description, view.Document(b.Schema), b.Hints.ReadOnly, b.Hints.Idempotent, b.Hints.Destructive, b.Hints.OpenWorld}
		}
	}
	return v
}

type newRemote struct {
	Body struct {
		Name       string `json:"name" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$" doc:"Name by which flows call the server." example:"shop"`
		URL        string `json:"url" minLength:"1" maxLength:"2048" doc:"URL of the server's Streamable HTTP endpoint." example:"https://shop.example.org/mcp"`
		Credential string `json:"credential,omitempty" maxLength:"64" doc:"Id of the credential for the requests."`
	}
}

func (a *API) createRemote(ctx context.Context, c httpapi.Call, in *newRemote) (remoteView, error) {
	if err := a.knownCredential(ctx, c, in.Body.Credential); err != nil {
		return remoteView{}, err
	}
	r, err := a.Remote.For(c.Account).Create(ctx, remote.NewServer{Name: in.Body.Name, URL: in.Body.URL, Credential: in.Body.Credential})
	return viewRemote(r), err
}

// knownCredential refuses the id of a credential that is not there.
func (a *API) knownCredential(ctx context.Context, c httpapi.Call, id string) error {
	if id == "" {
		return nil
	}
	ids, err := a.Credentials.For(c.Account).IDs(ctx, a.DB)
	if err == nil && !slices.Contains(ids, id) {
		return httpapi.NotFoundAt("body.credential", "must be the id of a credential of this account")
	}
	return err
}

func (a *API) listRemotes(ctx context.Context, c httpapi.Call, in *httpapi.PageInput) (view.Page[remoteView], error) {
	p, err := a.Remote.For(c.Account).Servers(ctx, in.List())
	return view.PageOf(p, viewRemote), httpapi.InQuery(err)
}

type remoteID struct {
	ID string `path:"serverId" maxLength:"64" doc:"Id of the server."`
}

func (a *API) showRemote(ctx context.Context, c httpapi.Call, in *remoteID) (remoteView, error) {
	r, err := a.Remote.For(c.Account).Server(ctx, in.ID)
	return viewRemote(r), err
}

type remoteChange struct {
	ID   string `path:"serverId" maxLength:"64" doc:"Id of the server."`
	Body struct {
		Name       *string `json:"name,omitempty" minLength:"1" maxLength:"64" pattern:"^[A-Za-z0-9]+([_-][A-Za-z0-9]+)*$"`
		URL        *string `json:"url,omitempty" minLength:"1" maxLength:"2048"`
		Credential *string `json:"credential,omitempty" maxLength:"64"`
		Enabled    *bool   `json:"enabled,omitempty"`
		Tools      []struct {
			Name     string `json:"name" minLength:"1" maxLength:"128"`
			Hash     string `json:"hash,omitempty" maxLength:"64" doc:"Hash of the definition that you approve. Not needed to withdraw an approval."`
			Approved bool   `json:"approved"`
		} `json:"tools,omitempty" nullable:"false" maxItems:"200" doc:"Tools that are not listed keep their approval."`
	}
}

func (a *API) updateRemote(ctx context.Context, c httpapi.Call, in *remoteChange) (remoteView, error) {
	b := in.Body
	if b.Credential != nil {
		if _, err := a.Remote.For(c.Account).Server(ctx, in.ID); err != nil {
			return remoteView{}, err
		}
		if err := a.knownCredential(ctx, c, *b.Credential); err != nil {
			return remoteView{}, err
		}
	}
	change := remote.Change{Name: b.Name, URL: b.URL, Credential: b.Credential, Enabled: b.Enabled}
	for _, t := range b.Tools {
		change.Approve = append(change.Approve, remote.Approval{Name: t.Name, Hash: t.Hash, Withdraw: !t.Approved})
	}
	r, err := a.Remote.For(c.Account).Update(ctx, in.ID, change)
	return viewRemote(r), err
}

func (a *API) deleteRemote(ctx context.Context, c httpapi.Call, in *remoteID) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Remote.For(c.Account).Delete(ctx, in.ID)
}

// remoteAction names a server to do something with; it takes no body, or {}.
type remoteAction struct {
	ID   string    `path:"serverId" maxLength:"64" doc:"Id of the server."`
	Body *struct{} `json:"body,omitempty"`
}

func (a *API) refreshRemote(ctx context.Context, c httpapi.Call, in *remoteAction) (remoteView, error) {
	r, err := a.Remote.For(c.Account).Refresh(ctx, in.ID)
	return viewRemote(r), err
}

// Problem translates the errors of package remote.
func Problem(err error) *httpapi.Problem {
	var failed *remote.Error
	switch {
	case errors.As(err, &failed):
		return httpapi.NewProblem(httpapi.CodeProviderError, failed.Error())
	}
	return nil
}
