package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

type registration struct {
	Body struct {
		Reference   provider.ReferenceID `json:"reference,omitempty" minimum:"1" doc:"Id of the reference. Required without id." example:"1"`
		ID          referenceText        `json:"id,omitempty"`
		Webhook     string               `json:"webhook,omitempty" maxLength:"2048" doc:"URL to deliver events to. Required without provider." example:"https://example.org/in"`
		Headers     []view.Header        `json:"headers,omitempty" maxItems:"50"`
		Events      []string             `json:"events,omitempty" maxItems:"12" doc:"Kinds of events: message, status, data, calls, subscription, session. Default: all except session."`
		Include     []string             `json:"include,omitempty" maxItems:"4" doc:"extracted: deliver message events after the extractors have read the message."`
		Format      string               `json:"format,omitempty" enum:"trunkline,cloud,evolution,waha,wuzapi" doc:"Format of the requests: trunkline, or that of Meta's Cloud API, Evolution API, WAHA or wuzapi, which have no data and subscription events. Default: trunkline."`
		Secret      string               `json:"secret,omitempty" maxLength:"200" doc:"Signing secret: whsec_ and base64 of 24 to 64 bytes. Default: a new secret."`
		Provider    bool                 `json:"provider,omitempty" doc:"true: subscribe at the reference's network instead of registering a webhook."`
		CallbackURL string               `json:"callbackUrl,omitempty" maxLength:"2048" doc:"With provider: the address that the network posts its events to."`
	}
}

// registered is what was registered, with the status that says whether it is
// new.
type registered struct {
	Status int
	Body   endpointOrDone
}

// endpointOrDone is an endpoint, or done after a subscription.
type endpointOrDone struct{ either any }

// MarshalJSON writes the one that it is.
func (e endpointOrDone) MarshalJSON() ([]byte, error) { return json.Marshal(e.either) }

// Schema describes both.
func (endpointOrDone) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "With webhook an Endpoint, with provider Done.",
		OneOf:       []*huma.Schema{r.Schema(reflect.TypeFor[endpoint](), true, ""), r.Schema(reflect.TypeFor[httpapi.Done](), true, "")},
	}
}

func (a *API) registerHook(ctx context.Context, c httpapi.Call, in *registration) (*registered, error) {
	b := in.Body
	if err := in.oneReference(); err != nil {
		return nil, errors.Join(err, in.check())
	}
	b.Reference = cmp.Or(b.Reference, provider.ReferenceID(b.ID))
	if _, err := a.Messaging.For(c.Account).References().Get(ctx, b.Reference); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if b.Provider {
		err := a.Messaging.For(c.Account).References().Subscribe(ctx, b.Reference, b.CallbackURL)
		return &registered{http.StatusOK, endpointOrDone{httpapi.Done{Success: true}}}, err
	}
	ep, created, err := a.putEndpoint(ctx, c, b.Reference, webhook.Settings{
		URL: b.Webhook, Headers: headersFrom(b.Headers), Events: b.Events, Include: b.Include, Format: b.Format, Secret: b.Secret,
	})
	out := &registered{http.StatusOK, endpointOrDone{endpointOf(ep)}}
	if created {
		out.Status = http.StatusCreated
	}
	return out, err
}

// oneReference checks that reference and id, which mean the same, name one.
func (in *registration) oneReference() error {
	id := provider.ReferenceID(in.Body.ID)
	switch {
	case in.Body.Reference == 0 && id == 0:
		return httpapi.Invalid("body.reference", "is required without id")
	case in.Body.Reference != 0 && id != 0 && in.Body.Reference != id:
		return httpapi.Invalid("body.id", "must be the same as reference, or absent")
	}
	return nil
}

// check sees to it that one of the two forms is there, and nothing of the
// other.
func (in *registration) check() error {
	b := in.Body
	switch {
	case !b.Provider && b.Webhook == "":
		return httpapi.Invalid("body.webhook", "is required without provider")
	case !b.Provider && b.CallbackURL != "":
		return httpapi.Invalid("body.callbackUrl", "is only allowed with provider: true")
	case !b.Provider:
		return nil
	}
	for _, m := range []struct {
		name  string
		given bool
	}{
		{"webhook", b.Webhook != ""},
		{"headers", b.Headers != nil},
		{"events", b.Events != nil},
		{"include", b.Include != nil},
		{"format", b.Format != ""},
		{"secret", b.Secret != ""},
	} {
		if m.given {
			return httpapi.Invalid("body."+m.name, "cannot be given together with provider")
		}
	}
	return nil
}
