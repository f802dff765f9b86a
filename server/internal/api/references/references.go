package references

import (
	"context"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/server/internal/view"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/api/jobs"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/job"
)

// referenceID names a reference in a path. (huma reads no embedded types that are
// not exported, so inputs repeat what they share.)
type referenceID struct {
	ID provider.ReferenceID `path:"id" minimum:"1" doc:"Id of the reference."`
}

// ReferenceQuery names a reference in a query.
type ReferenceQuery struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
}

// API answers what concerns references.
type API struct {
	Jobs      *job.Service
	Messaging *messaging.Service
	Runs      *runtime.Runtime
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_CreateReference", On: httpapi.OfAccount, Method: http.MethodPost, Path: "/reference", Status: http.StatusCreated,
		Summary: "Add a reference", Checker: a.Messaging,
	}, auth.ReferencesWrite, a.createReference)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_References", On: httpapi.Listing(), Method: http.MethodGet, Path: "/reference/list", Summary: "List references",
	}, auth.ReferencesRead, a.listReferences)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_StartSession", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/reference/session/start",
		Summary: "Connect a reference, or check its credentials",
		Errors:  []int{http.StatusNotFound},
	}, auth.SessionsManage, a.startSession)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_SessionStatus", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/reference/session/status",
		Summary: "Show the session of a reference",
		Errors:  []int{http.StatusNotFound},
	}, auth.ReferencesRead, a.sessionStatus)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Logout", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/reference/session/logout", Summary: "End a session",
		Errors: []int{http.StatusNotFound},
	}, auth.SessionsManage, a.logout)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Reference", On: httpapi.At("path.id"), Method: http.MethodGet, Path: "/reference/{id}", Summary: "Show a reference",
		Errors: []int{http.StatusNotFound},
	}, auth.ReferencesRead, a.getReference)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_UpdateReference", On: httpapi.At("path.id"), Method: http.MethodPatch, Path: "/reference/{id}", Summary: "Change a reference",
		Errors: []int{http.StatusNotFound},
	}, auth.ReferencesWrite, a.updateReference)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_DeleteReference", On: httpapi.At("path.id"), Method: http.MethodDelete, Path: "/reference/{id}",
		Summary: "Delete a reference with its chats and messages", Status: http.StatusAccepted,
		About:  "After the response it is no longer found, receives nothing, and waiting messages are not sent. A job erases its data.",
		Errors: []int{http.StatusNotFound},
	}, auth.ReferencesWrite, a.deleteReference)
	a.registerPasskey(api)
	a.registerTriggers(api)
	a.registerDeadLetters(api)
}

type newReference struct {
	Body struct {
		Name     string         `json:"name" minLength:"1" maxLength:"200" example:"Shop"`
		Type     provider.Kind  `json:"type" doc:"provider-web, provider-cloud, provider-messenger or provider-sandbox." example:"provider-sandbox"`
		Settings map[string]any `json:"settings,omitempty" doc:"The settings of the type: strings or booleans, or objects of these. provider-web: all optional: markOnline, historySync, proxyUrl and calls, an object with reject and reply; provider-cloud: phoneNumberId and accessToken, and optionally businessAccountId (default: asked from the network), appSecret and verifyToken (default: the server's); provider-messenger: pageId and accessToken, and optionally appSecret and verifyToken (default: the server's); provider-sandbox: optionally lateIds."`
	}
}

// Resolve checks the settings as the type has them, so that they are named with
// what else is missing.
func (in *newReference) Resolve(c huma.Context) []error {
	n, err := in.reference()
	return httpapi.ResolveErrors(errors.Join(err, httpapi.CheckerOf[*messaging.Service](c).CheckReference(n)), httpapi.Translators{Problem})
}

func (in *newReference) reference() (messaging.NewReference, error) {
	settings, err := messaging.FlatSettings(in.Body.Settings)
	return messaging.NewReference{Name: in.Body.Name, Type: in.Body.Type, Settings: settings}, err
}

func (a *API) createReference(ctx context.Context, c httpapi.Call, in *newReference) (messaging.Reference, error) {
	n, err := in.reference()
	if err != nil {
		return messaging.Reference{}, err
	}
	return a.Messaging.For(c.Account).References().Create(ctx, n)
}

type referenceFilter struct {
	Type provider.Kind `query:"type" doc:"Only references of this type."`
	httpapi.PageInput
}

func (a *API) listReferences(ctx context.Context, c httpapi.Call, in *referenceFilter) (view.Page[messaging.Reference], error) {
	p, err := a.Messaging.For(c.Account).References().ListAmong(ctx, in.Type, c.Only, in.List())
	return view.PageOf(p, view.AsIs), httpapi.InQuery(err)
}

func (a *API) getReference(ctx context.Context, c httpapi.Call, in *referenceID) (messaging.Reference, error) {
	return a.Messaging.For(c.Account).References().Get(ctx, in.ID)
}

type changeReference struct {
	ID   provider.ReferenceID `path:"id" minimum:"1" doc:"Id of the reference."`
	Body struct {
		Name     *string        `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Settings map[string]any `json:"settings,omitempty" doc:"Merged with the stored settings by name, also within an object. A name that is absent keeps its value. null removes a setting, or all of an object."`
	}
}

func (a *API) updateReference(ctx context.Context, c httpapi.Call, in *changeReference) (messaging.Reference, error) {
	settings, err := messaging.FlatSettings(in.Body.Settings)
	if err != nil {
		return messaging.Reference{}, err
	}
	return a.Messaging.For(c.Account).References().Update(ctx, in.ID, messaging.ReferenceChange{Name: in.Body.Name, Settings: settings})
}

func (a *API) deleteReference(ctx context.Context, c httpapi.Call, in *referenceID) (jobs.Deleting, error) {
	var j job.Job
	_, err := a.Messaging.For(c.Account).References().Hide(ctx, in.ID, func(ctx context.Context, tx *database.Tx, e messaging.Erasure) (err error) {
		j, err = a.Jobs.AddTx(ctx, tx, job.New{Account: c.Account, Kind: jobs.Reference, Reference: int64(in.ID), Args: e})
		return err
	})
	return jobs.Deleting{Success: true, Job: jobs.NewView(j)}, err
}

type sessionBody struct {
	Body struct {
		Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
	}
}

type startBody struct {
	Body struct {
		Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		Method    string               `json:"method,omitempty" enum:"qr,code" doc:"How to link a reference that is not linked to a phone yet: with a QR code that the session returns, or with a code that you type on the phone."`
		Phone     string               `json:"phone,omitempty" maxLength:"40" doc:"The phone number to link. Required with the method code." example:"+16505551234"`
	}
}

func (a *API) startSession(ctx context.Context, c httpapi.Call, in *startBody) (messaging.Session, error) {
	b, account := in.Body, a.Messaging.For(c.Account)
	switch {
	case b.Phone != "" && b.Method != "code":
		return messaging.Session{}, &messaging.Invalid{Field: "phone", Message: "is only allowed with the method code"}
	case b.Method == "code" && b.Phone == "":
		return messaging.Session{}, &messaging.Invalid{Field: "phone", Message: "must be a phone number with its country code"}
	case b.Method != "":
		return account.Sessions().Link(ctx, b.Reference, b.Phone)
	}
	return account.Sessions().Start(ctx, b.Reference)
}

func (a *API) logout(ctx context.Context, c httpapi.Call, in *sessionBody) (messaging.Session, error) {
	return a.Messaging.For(c.Account).Sessions().Logout(ctx, in.Body.Reference)
}

func (a *API) sessionStatus(ctx context.Context, c httpapi.Call, in *ReferenceQuery) (messaging.Session, error) {
	return a.Messaging.For(c.Account).Sessions().Status(ctx, in.Reference)
}
