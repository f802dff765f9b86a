package server

import (
	"context"
	"net/http"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/job"
)

// contactRoutes are about who a contact is, and what is held on it.
func (s *Server) contactRoutes(a *api) {
	register(a, operation{
		id: "Messaging_Resolve", on: at("query.reference"), method: http.MethodGet, path: "/chats/resolve",
		summary: "Find the names of a contact by any of them",
		about:   "By any id that its chat has or had, in any form that a send takes, or by its user name.",
		errors:  []int{http.StatusNotFound},
	}, auth.ChatsRead, s.resolve)
	register(a, operation{
		id: "Messaging_CheckNumber", on: at("query.reference"), method: http.MethodGet, path: "/chats/check",
		summary: "Ask a line's network whether a phone number has an account there",
		about: "An answer is kept for 24 hours. A line asks for at most 20 new numbers a minute; what exceeds that is a `rate_limited`. " +
			"Lines whose network cannot be asked answer `unsupported`.",
		errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, auth.ChatsRead, s.checkNumber)
	registerReply(a, operation{
		id: "Messaging_Export", method: http.MethodGet, path: "/chats/export",
		summary: "Export everything that is held on a contact or a group",
		about: "The chat and its ids, its messages with their statuses, files and what was sent, what the contact wrote in groups, calls, " +
			"what the network reported of it, and the deliveries to webhooks with their bodies. The answer is written as it is read; " +
			"one that breaks off is no JSON.",
		errors: []int{http.StatusNotFound},
	}, auth.UsersManage, s.exportChat)
	register(a, operation{
		id: "Messaging_DeleteChat", method: http.MethodDelete, path: "/chats", status: http.StatusAccepted,
		summary: "Erase everything that is held on a contact or a group",
		about: "All that an export shows goes: messages, files, what the contact wrote in groups, what was queued. The log of deliveries keeps when they went out, " +
			"without what was in them. The chat is not found any more from the answer on, and the stream says `resync`; a job erases the rest. " +
			"What comes later begins a new chat.",
		errors: []int{http.StatusNotFound},
	}, auth.UsersManage, s.deleteChat)
}

type whose struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	ID        string               `query:"id" required:"true" minLength:"1" maxLength:"512" doc:"Any of the contact's ids, or its user name." example:"+1 650 555 1234"`
}

func (s *Server) resolve(ctx context.Context, c call, in *whose) (messaging.Identity, error) {
	who, err := s.account(c).Resolve(ctx, in.Reference, in.ID)
	return who, inQuery(err)
}

type numberQuery struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	Phone     string               `query:"phone" required:"true" minLength:"1" maxLength:"100" doc:"With its country code." example:"+16505551234"`
}

func (s *Server) checkNumber(ctx context.Context, c call, in *numberQuery) (messaging.Number, error) {
	n, err := s.account(c).CheckNumber(ctx, in.Reference, in.Phone)
	return n, inQuery(err)
}

// chatQuery names a chat in a query.
type chatQuery struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	ChatID    string               `query:"chatId" required:"true" minLength:"1" maxLength:"512" doc:"Any of the chat's ids." example:"ana@sandbox"`
}

func (s *Server) deleteChat(ctx context.Context, c call, in *chatQuery) (deleting, error) {
	var j job.Job
	_, err := s.account(c).HideChat(ctx, in.Reference, in.ChatID, func(ctx context.Context, tx *sqlx.Tx, e messaging.Erasure) (err error) {
		j, err = s.Jobs.AddTx(ctx, tx, job.New{Account: c.Account, Kind: jobChat, Reference: int64(in.Reference), Args: e})
		return err
	})
	s.Jobs.Committed()
	return deleting{true, viewJob(j)}, inQuery(err)
}
