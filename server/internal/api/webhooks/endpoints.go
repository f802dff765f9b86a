package webhooks

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/api/references"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// endpoint is a webhook as its owner sees it.
type endpoint struct {
	EndpointID string               `json:"endpointId"`
	ID         string               `json:"id" doc:"Id of the reference, as a string."`
	Reference  provider.ReferenceID `json:"reference"`
	Webhook    string               `json:"webhook"`
	Headers    []view.Header        `json:"headers" nullable:"false"`
	Events     []string             `json:"events" nullable:"false"`
	Include    []string             `json:"include" nullable:"false"`
	Format     string               `json:"format" enum:"trunkline,cloud,evolution,waha,wuzapi" doc:"Format of the requests: trunkline, or that of Meta's Cloud API, Evolution API, WAHA or wuzapi."`
	Enabled    bool                 `json:"enabled"`
	State      webhook.State        `json:"state" enum:"ok,paused,disabled"`
	LastError  *string              `json:"lastError"`
	Secret     string               `json:"secret,omitempty" doc:"Signs the deliveries. It is returned only when it was just created."`
	CreatedAt  messaging.UnixTime   `json:"createdAt"`
	UpdatedAt  messaging.UnixTime   `json:"updatedAt"`
}

// API answers what concerns webhooks.
type API struct {
	Messaging *messaging.Service
	Now       func() time.Time
	Webhooks  *webhook.Dispatcher
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Webhooks_Put", On: httpapi.At("body.id"), Method: http.MethodPost, Path: "/references/hookconf",
		Summary: "Add a webhook, or update the headers of the one with this URL",
		About:   "For a sandbox reference the URL may be " + webhook.EchoURL + ": a built-in receiver then gets the deliveries.",
		Errors:  []int{http.StatusNotFound},
	}, auth.WebhooksManage, a.putHook)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Webhooks_Register", On: httpapi.At("body.reference", "body.id"), Method: http.MethodPost, Path: "/references/registerWebHook",
		Summary: "Register a webhook and get its signing secret, or subscribe at the network", Status: http.StatusCreated,
		About: "With `webhook`: answers 201 with the secret for a new URL, 200 without it for an existing one. " +
			"With `provider: true`: asks the reference's network to post its events to `callbackUrl`, by default to the address " +
			"in the network's own settings, and answers `{\"success\": true}`. The network calls `callbackUrl` immediately with the reference's `verifyToken`.",
		Errors: []int{http.StatusNotFound, http.StatusBadGateway},
	}, auth.WebhooksManage, a.registerHook)
	a.registerDeliveries(api)
	httpapi.Register(api, httpapi.Operation{
		ID: "Webhooks_Endpoints", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/references/hookconf", Summary: "List the webhooks of a reference",
		Errors: []int{http.StatusNotFound},
	}, auth.WebhooksManage, a.listHooks)
	httpapi.Register(api, httpapi.Operation{
		ID: "Webhooks_Update", On: httpapi.At("path.endpointId"), Method: http.MethodPatch, Path: "/references/hookconf/{endpointId}",
		Summary: "Change a webhook, or rotate its secret",
		Errors:  []int{http.StatusNotFound},
	}, auth.WebhooksManage, a.updateHook)
	httpapi.Register(api, httpapi.Operation{
		ID: "Webhooks_Delete", On: httpapi.At("path.endpointId"), Method: http.MethodDelete, Path: "/references/hookconf/{endpointId}",
		Summary: "Remove a webhook with its pending deliveries",
		Errors:  []int{http.StatusNotFound},
	}, auth.WebhooksManage, a.deleteHook)
}

// referenceText is a reference id that may be written as a string or a number.
type referenceText provider.ReferenceID

// UnmarshalJSON reads 7 and "7".
func (id *referenceText) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return &httpapi.MemberError{At: "body.id", Message: "must be the id of a reference"}
	}
	*id = referenceText(n)
	return nil
}

// Schema says that both forms are taken.
func (referenceText) Schema(huma.Registry) *huma.Schema {
	return httpapi.DescribedSchema("Id of the reference, as a string or an integer.",
		&huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(float64(1))},
		&huma.Schema{Type: huma.TypeString, Pattern: "^[0-9]{1,18}$"})
}

type hookconf struct {
	Body struct {
		ID      referenceText `json:"id"`
		Webhook string        `json:"webhook" minLength:"1" maxLength:"2048" example:"https://example.org/in"`
		Headers []view.Header `json:"headers,omitempty" maxItems:"50"`
		Format  string        `json:"format,omitempty" enum:"trunkline,cloud,evolution,waha,wuzapi" doc:"Format of the requests. Default: trunkline for a new webhook; for an existing one, no change."`
	}
}

type hookconfResult struct {
	Success bool     `json:"success"`
	Message string   `json:"message"`
	Data    struct{} `json:"data"`
}

func (a *API) putHook(ctx context.Context, c httpapi.Call, in *hookconf) (hookconfResult, error) {
	_, created, err := a.putEndpoint(ctx, c, provider.ReferenceID(in.Body.ID), webhook.Settings{
		URL: in.Body.Webhook, Headers: headersFrom(in.Body.Headers), Format: in.Body.Format,
	})
	if created {
		return hookconfResult{Success: true, Message: "The webhook was added."}, err
	}
	return hookconfResult{Success: true, Message: "The webhook was updated."}, err
}

// putEndpoint adds or updates an endpoint of one of the caller's references.
func (a *API) putEndpoint(ctx context.Context, c httpapi.Call, id provider.ReferenceID, set webhook.Settings) (webhook.Endpoint, bool, error) {
	r, err := a.Messaging.For(c.Account).References().Get(ctx, id)
	if err != nil {
		return webhook.Endpoint{}, false, err
	}
	if set.URL == webhook.EchoURL && r.Type != sandbox.Kind {
		return webhook.Endpoint{}, false, httpapi.Invalid("body.webhook", "is only allowed for references of type "+string(sandbox.Kind))
	}
	set.Scope = view.WebhookScope(id)
	ep, isNew, err := a.Webhooks.For(c.Account).Put(ctx, set)
	return ep, isNew, httpapi.Relocate(err, "body.url", "body.webhook")
}

func (a *API) listHooks(ctx context.Context, c httpapi.Call, in *references.ReferenceQuery) (view.Page[endpoint], error) {
	if _, err := a.Messaging.For(c.Account).References().Get(ctx, in.Reference); err != nil {
		return view.Page[endpoint]{}, err
	}
	eps, err := a.Webhooks.For(c.Account).Endpoints(ctx, view.WebhookScope(in.Reference))
	return view.All(eps, endpointOf), err
}

type endpointPath struct {
	EndpointID string `path:"endpointId" maxLength:"64"`
}

type endpointChange struct {
	EndpointID string `path:"endpointId" maxLength:"64"`
	Body       struct {
		Headers      *[]view.Header `json:"headers,omitempty" maxItems:"50" doc:"Replaces all headers. The value •••• keeps the stored value."`
		Events       *[]string      `json:"events,omitempty" maxItems:"12"`
		Include      *[]string      `json:"include,omitempty" maxItems:"4"`
		Format       *string        `json:"format,omitempty" enum:"trunkline,cloud,evolution,waha,wuzapi" doc:"Format of the requests, including deliveries that already wait."`
		Enabled      *bool          `json:"enabled,omitempty"`
		RotateSecret bool           `json:"rotateSecret,omitempty" doc:"Whether to create a new secret. For 24 hours, deliveries are signed with both the old and the new secret."`
	}
}

func (a *API) updateHook(ctx context.Context, c httpapi.Call, in *endpointChange) (endpoint, error) {
	b := in.Body
	ch := webhook.Change{Enabled: b.Enabled, RotateSecret: b.RotateSecret, Events: all(b.Events), Include: all(b.Include), Format: b.Format}
	if b.Headers != nil {
		ch.Headers = headersFrom(*b.Headers)
	}
	ep, err := a.Webhooks.For(c.Account).Update(ctx, in.EndpointID, ch)
	return endpointOf(ep), err
}

// all is nil only when the list is absent.
func all(list *[]string) []string {
	if list == nil {
		return nil
	}
	return append([]string{}, *list...)
}

func (a *API) deleteHook(ctx context.Context, c httpapi.Call, in *endpointPath) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Webhooks.For(c.Account).Delete(ctx, in.EndpointID)
}

func endpointOf(ep webhook.Endpoint) endpoint {
	n, _ := strconv.ParseInt(ep.Scope, 10, 64) // written by webhookScope
	out := endpoint{
		EndpointID: ep.ID, ID: ep.Scope, Reference: provider.ReferenceID(n), Webhook: ep.URL, Headers: view.HeadersOf(ep.Headers),
		Events: ep.Events, Include: ep.Include, Format: ep.Format, Enabled: ep.Enabled, State: ep.State, Secret: ep.Secret,
		CreatedAt: messaging.UnixTime{Time: ep.CreatedAt}, UpdatedAt: messaging.UnixTime{Time: ep.UpdatedAt},
	}
	if ep.LastError != "" {
		out.LastError = &ep.LastError
	}
	return out
}

// headersFrom is nil only when the list is absent.
func headersFrom(hs []view.Header) []webhook.Header {
	if hs == nil {
		return nil
	}
	out := make([]webhook.Header, len(hs))
	for i, h := range hs {
		out[i] = webhook.Header(h)
	}
	return out
}
