package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/job"
)

// done is the answer of operations that have nothing to show.
type done struct {
	Success bool `json:"success"`
}

// referenceID names a line in a path. (huma reads no embedded types that are
// not exported, so inputs repeat what they share.)
type referenceID struct {
	ID provider.ReferenceID `path:"id" minimum:"1" doc:"Id of the reference."`
}

// referenceQuery names a line in a query.
type referenceQuery struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
}

func (s *Server) referenceRoutes(a *api) {
	register(a, operation{
		id: "Messaging_CreateReference", on: ofAccount, method: http.MethodPost, path: "/reference", status: http.StatusCreated,
		summary: "Add a chat line",
	}, auth.ReferencesWrite, s.createReference)
	register(a, operation{
		id: "Messaging_References", on: listing(), method: http.MethodGet, path: "/reference/list", summary: "List chat lines",
	}, auth.ReferencesRead, s.listReferences)
	register(a, operation{
		id: "Messaging_StartSession", on: at("body.reference"), method: http.MethodPost, path: "/reference/session/start",
		summary: "Connect a line, or check its credentials",
		errors:  []int{http.StatusNotFound},
	}, auth.SessionsManage, s.startSession)
	register(a, operation{
		id: "Messaging_SessionStatus", on: at("query.reference"), method: http.MethodGet, path: "/reference/session/status",
		summary: "How a line stands with its network",
		errors:  []int{http.StatusNotFound},
	}, auth.ReferencesRead, s.sessionStatus)
	register(a, operation{
		id: "Messaging_Logout", on: at("body.reference"), method: http.MethodPost, path: "/reference/session/logout", summary: "End a session",
		errors: []int{http.StatusNotFound},
	}, auth.SessionsManage, s.logout)
	register(a, operation{
		id: "Messaging_Reference", on: at("path.id"), method: http.MethodGet, path: "/reference/{id}", summary: "Show a chat line",
		errors: []int{http.StatusNotFound},
	}, auth.ReferencesRead, s.getReference)
	register(a, operation{
		id: "Messaging_UpdateReference", on: at("path.id"), method: http.MethodPatch, path: "/reference/{id}", summary: "Change a chat line",
		errors: []int{http.StatusNotFound},
	}, auth.ReferencesWrite, s.updateReference)
	register(a, operation{
		id: "Messaging_DeleteReference", on: at("path.id"), method: http.MethodDelete, path: "/reference/{id}",
		summary: "Remove a chat line with its chats and messages", status: http.StatusAccepted,
		about:  "It is not found any more from the answer on: nothing comes to it, and nothing that waits is sent. A job erases what it had.",
		errors: []int{http.StatusNotFound},
	}, auth.ReferencesWrite, s.deleteReference)
}

type newReference struct {
	Body struct {
		Name     string            `json:"name" minLength:"1" maxLength:"200" example:"Shop"`
		Type     provider.Kind     `json:"type" doc:"provider-web, provider-cloud, provider-messenger or provider-sandbox." example:"provider-sandbox"`
		Settings map[string]string `json:"settings,omitempty" doc:"What the type needs. provider-web: nothing, or markOnline, historySync and proxyUrl; provider-cloud: phoneNumberId and accessToken, and businessAccountId (asked from the network when absent), appSecret and verifyToken (those of the server when absent); provider-messenger: pageId and accessToken, and appSecret and verifyToken likewise; provider-sandbox: nothing, or lateIds."`
	}
}

// Resolve checks the settings as the type has them, so that they are named with
// what else is missing.
func (in *newReference) Resolve(c huma.Context) []error {
	return besides(serverOf(c.Context()).Messaging.CheckReference(in.reference()))
}

func (in *newReference) reference() messaging.NewReference {
	return messaging.NewReference{Name: in.Body.Name, Type: in.Body.Type, Settings: in.Body.Settings}
}

func (s *Server) createReference(ctx context.Context, c call, in *newReference) (messaging.Reference, error) {
	return s.account(c).CreateReference(ctx, in.reference())
}

type referenceFilter struct {
	Type   provider.Kind `query:"type" doc:"Only lines of this type."`
	Limit  int           `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string        `query:"cursor" maxLength:"200" doc:"next of the page before."`
}

func (s *Server) listReferences(ctx context.Context, c call, in *referenceFilter) (messaging.Page[messaging.Reference], error) {
	p, err := s.account(c).ReferencesAmong(ctx, in.Type, c.only, messaging.List{Limit: in.Limit, Cursor: in.Cursor})
	return p, inQuery(err)
}

func (s *Server) getReference(ctx context.Context, c call, in *referenceID) (messaging.Reference, error) {
	return s.account(c).Reference(ctx, in.ID)
}

type changeReference struct {
	ID   provider.ReferenceID `path:"id" minimum:"1" doc:"Id of the reference."`
	Body struct {
		Name     *string           `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Settings map[string]string `json:"settings,omitempty" doc:"Merged: names that are absent stay."`
	}
}

func (s *Server) updateReference(ctx context.Context, c call, in *changeReference) (messaging.Reference, error) {
	return s.account(c).UpdateReference(ctx, in.ID, messaging.ReferenceChange{Name: in.Body.Name, Settings: in.Body.Settings})
}

func (s *Server) deleteReference(ctx context.Context, c call, in *referenceID) (deleting, error) {
	var j job.Job
	_, err := s.account(c).HideReference(ctx, in.ID, func(ctx context.Context, tx *sqlx.Tx, e messaging.Erasure) (err error) {
		j, err = s.Jobs.AddTx(ctx, tx, job.New{Account: c.Account, Kind: jobReference, Reference: int64(in.ID), Args: e})
		return err
	})
	s.Jobs.Committed()
	return deleting{true, viewJob(j)}, err
}

type sessionBody struct {
	Body struct {
		Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
	}
}

type startBody struct {
	Body struct {
		Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		Method    string               `json:"method,omitempty" enum:"qr,code" doc:"How a line is linked to a phone that has none yet: by a QR code that the session shows, or by a code that is typed on the phone."`
		Phone     string               `json:"phone,omitempty" maxLength:"40" doc:"With the method code: the number of that phone." example:"+16505551234"`
	}
}

func (s *Server) startSession(ctx context.Context, c call, in *startBody) (messaging.Session, error) {
	b, a := in.Body, s.account(c)
	switch {
	case b.Phone != "" && b.Method != "code":
		return messaging.Session{}, &messaging.Invalid{Field: "phone", Message: "belongs to the method code"}
	case b.Method == "code" && b.Phone == "":
		return messaging.Session{}, &messaging.Invalid{Field: "phone", Message: "must be a phone number with its country code"}
	case b.Method != "":
		return a.LinkSession(ctx, b.Reference, b.Phone)
	}
	return a.StartSession(ctx, b.Reference)
}

func (s *Server) logout(ctx context.Context, c call, in *sessionBody) (messaging.Session, error) {
	return s.account(c).Logout(ctx, in.Body.Reference)
}

func (s *Server) sessionStatus(ctx context.Context, c call, in *referenceQuery) (messaging.Session, error) {
	return s.account(c).SessionStatus(ctx, in.Reference)
}
