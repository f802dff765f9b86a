package credentials

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// API answers what concerns the credentials with which flows and
// their tools prove to others who they are.
type API struct{ Credentials *credential.Service }

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Credential_Create", Method: http.MethodPost, Path: "/aiflow/credential", Status: http.StatusCreated, Summary: "Store a credential",
		About: "HTTP nodes (`auth`) and MCP servers (`credential`) use it by its id. The secret is encrypted at rest and never returned again, and no run, log or simulation " +
			"contains it. It is sent only to `hosts` if they are given, and only over https except to hosts in --webhook-allow. Redirects to another host never carry it.",
	}, auth.FlowsManage, a.createCredential)
	httpapi.Register(api, httpapi.Operation{
		ID: "Credential_List", Method: http.MethodGet, Path: "/aiflow/credential", Summary: "List credentials, oldest first",
	}, auth.FlowsManage, a.listCredentials)
	httpapi.Register(api, httpapi.Operation{
		ID: "Credential_Delete", Method: http.MethodDelete, Path: "/aiflow/credential/{credentialId}", Summary: "Delete a credential",
		About:  "Takes effect at once, even if it is in use: HTTP nodes with it end with the error `http.credential`, MCP servers with it cannot be reached, and flows with it cannot be published.",
		Errors: []int{http.StatusNotFound},
	}, auth.FlowsManage, a.deleteCredential)
}

type credentialView struct {
	ID        string             `json:"id"`
	Name      string             `json:"name"`
	Kind      credential.Kind    `json:"kind" enum:"bearer,basic,header,query"`
	Field     *string            `json:"field" doc:"Name of the header or query parameter that has the secret."`
	Username  *string            `json:"username"`
	Secret    string             `json:"secret" doc:"The masked secret." example:"••••1234"`
	Hosts     []string           `json:"hosts" nullable:"false" doc:"Hosts that the secret may be sent to. If empty, it may be sent to any host."`
	CreatedAt messaging.UnixTime `json:"createdAt"`
}

func viewCredential(c credential.Credential) credentialView {
	return credentialView{
		ID: c.ID, Name: c.Name, Kind: c.Kind, Field: view.OrNull(c.Field), Username: view.OrNull(c.Username), Secret: c.Secret, Hosts: c.Hosts,
		CreatedAt: messaging.UnixTime{Time: c.CreatedAt},
	}
}

type newCredential struct {
	Body struct {
		Name     string          `json:"name" minLength:"1" maxLength:"200" example:"Shop"`
		Kind     credential.Kind `json:"kind" enum:"bearer,basic,header,query" doc:"Where the secret is sent. bearer and basic: in the Authorization header; header and query: in the header or query parameter that field names."`
		Field    string          `json:"field,omitempty" maxLength:"128" doc:"Name of the header or query parameter. For the kinds header and query only." example:"X-Api-Key"`
		Username string          `json:"username,omitempty" maxLength:"200" doc:"User name. For the kind basic only."`
		Secret   string          `json:"secret" minLength:"1" maxLength:"4096" doc:"The token, password or key, without line breaks."`
		Hosts    []string        `json:"hosts,omitempty" nullable:"false" maxItems:"20" doc:"Hosts that the secret may be sent to, with or without a port. If empty, it may be sent to any host." example:"api.example.org"`
	}
}

func (a *API) createCredential(ctx context.Context, c httpapi.Call, in *newCredential) (credentialView, error) {
	b := in.Body
	if b.Kind != credential.Header && b.Kind != credential.Query && b.Field != "" {
		return credentialView{}, httpapi.Invalid("body.field", "is only allowed for the kinds header and query")
	}
	made, err := a.Credentials.For(c.Account).Create(ctx, credential.NewCredential{
		Name: b.Name, Kind: b.Kind, Field: b.Field, Username: b.Username, Secret: b.Secret, Hosts: b.Hosts,
	})
	return viewCredential(made), err
}

func (a *API) listCredentials(ctx context.Context, c httpapi.Call, in *httpapi.PageInput) (view.Page[credentialView], error) {
	p, err := a.Credentials.For(c.Account).List(ctx, in.List())
	return view.PageOf(p, viewCredential), httpapi.InQuery(err)
}

type credentialID struct {
	ID string `path:"credentialId" maxLength:"64" doc:"Id of the credential."`
}

func (a *API) deleteCredential(ctx context.Context, c httpapi.Call, in *credentialID) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Credentials.For(c.Account).Delete(ctx, in.ID)
}
