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
		ID: "Credential_Create", Method: http.MethodPost, Path: "/aiflow/credential", Status: http.StatusCreated, Summary: "Keep a credential",
		About: "HTTP nodes (`auth`) and MCP servers (`credential`) name it by its id. The secret is sealed at rest and never shown again, and no run, log or simulation " +
			"holds it. With `hosts` it is sent nowhere else, and it is sent over https only, but to what --webhook-allow names; redirects to another host never carry it.",
	}, auth.FlowsManage, a.createCredential)
	httpapi.Register(api, httpapi.Operation{
		ID: "Credential_List", Method: http.MethodGet, Path: "/aiflow/credential", Summary: "List credentials, the oldest first",
	}, auth.FlowsManage, a.listCredentials)
	httpapi.Register(api, httpapi.Operation{
		ID: "Credential_Delete", Method: http.MethodDelete, Path: "/aiflow/credential/{credentialId}", Summary: "Delete a credential, whoever uses it",
		About:  "At once: HTTP nodes that name it end with the error `http.credential`, MCP servers that do cannot be reached, and flows that do cannot be published.",
		Errors: []int{http.StatusNotFound},
	}, auth.FlowsManage, a.deleteCredential)
}

type credentialView struct {
	ID        string             `json:"id"`
	Name      string             `json:"name"`
	Kind      credential.Kind    `json:"kind" enum:"bearer,basic,header,query"`
	Field     *string            `json:"field" doc:"The header or the parameter that carries it."`
	Username  *string            `json:"username"`
	Secret    string             `json:"secret" doc:"Masked." example:"••••1234"`
	Hosts     []string           `json:"hosts" nullable:"false" doc:"Where it may be sent; none: everywhere."`
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
		Kind     credential.Kind `json:"kind" enum:"bearer,basic,header,query" doc:"bearer and basic: the header Authorization; header and query: the header or the parameter that field names."`
		Field    string          `json:"field,omitempty" maxLength:"128" doc:"Of the kinds header and query." example:"X-Api-Key"`
		Username string          `json:"username,omitempty" maxLength:"200" doc:"Of the kind basic."`
		Secret   string          `json:"secret" minLength:"1" maxLength:"4096" doc:"The token, the password or the key: one line."`
		Hosts    []string        `json:"hosts,omitempty" nullable:"false" maxItems:"20" doc:"Where it may be sent, with or without a port; none: everywhere." example:"api.example.org"`
	}
}

func (a *API) createCredential(ctx context.Context, c httpapi.Call, in *newCredential) (credentialView, error) {
	b := in.Body
	if b.Kind != credential.Header && b.Kind != credential.Query && b.Field != "" {
		return credentialView{}, httpapi.Invalid("body.field", "is only for the kinds header and query")
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
