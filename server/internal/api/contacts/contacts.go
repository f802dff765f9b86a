package contacts

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/api/chats"
	"github.com/trunklinehq/trunkline/server/internal/api/jobs"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/job"
	"github.com/trunklinehq/trunkline/webhook"
)

// API answers what concerns contacts.
type API struct {
	Audit     *auditlog.Store
	Jobs      *job.Service
	Log       *slog.Logger
	Messaging *messaging.Service
	Now       func() time.Time
	Webhooks  *webhook.Dispatcher
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Resolve", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/chats/resolve",
		Summary: "Find the names of a contact by any of them",
		About:   "By any id that its chat has or had, in any form that a send takes, or by its user name.",
		Errors:  []int{http.StatusNotFound},
	}, auth.ChatsRead, a.resolve)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_CheckNumber", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/chats/check",
		Summary: "Ask a line's network whether a phone number has an account there",
		About: "An answer is kept for 24 hours. A line asks for at most 20 new numbers a minute; what exceeds that is a `rate_limited`. " +
			"Lines whose network cannot be asked answer `unsupported`.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, auth.ChatsRead, a.checkNumber)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Messaging_Export", Method: http.MethodGet, Path: "/chats/export",
		Summary: "Export everything that is held on a contact or a group",
		About: "The chat and its ids, its messages with their statuses, files and what was sent, what the contact wrote in groups, calls, " +
			"what the network reported of it, and the deliveries to webhooks with their bodies. The answer is written as it is read; " +
			"one that breaks off is no JSON.",
		Errors: []int{http.StatusNotFound},
	}, auth.UsersManage, a.exportChat)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_DeleteChat", Method: http.MethodDelete, Path: "/chats", Status: http.StatusAccepted,
		Summary: "Erase everything that is held on a contact or a group",
		About: "All that an export shows goes: messages, files, what the contact wrote in groups, what was queued. The log of deliveries keeps when they went out, " +
			"without what was in them. The chat is not found any more from the answer on, and the stream says `resync`; a job erases the rest. " +
			"What comes later begins a new chat.",
		Errors: []int{http.StatusNotFound},
	}, auth.UsersManage, a.deleteChat)
}

type whose struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	ID        string               `query:"id" required:"true" minLength:"1" maxLength:"512" doc:"Any id of the contact, or its user name." example:"+1 650 555 1234"`
}

func (a *API) resolve(ctx context.Context, c httpapi.Call, in *whose) (messaging.Identity, error) {
	who, err := a.Messaging.For(c.Account).Contacts().Resolve(ctx, in.Reference, in.ID)
	return who, httpapi.InQuery(err)
}

type numberQuery struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	Phone     string               `query:"phone" required:"true" minLength:"1" maxLength:"100" doc:"Phone number with its country code." example:"+16505551234"`
}

func (a *API) checkNumber(ctx context.Context, c httpapi.Call, in *numberQuery) (messaging.Number, error) {
	n, err := a.Messaging.For(c.Account).Contacts().CheckNumber(ctx, in.Reference, in.Phone)
	return n, httpapi.InQuery(err)
}

func (a *API) deleteChat(ctx context.Context, c httpapi.Call, in *chats.ChatQuery) (jobs.Deleting, error) {
	var j job.Job
	_, err := a.Messaging.For(c.Account).HideChat(ctx, in.Reference, in.ChatID, func(ctx context.Context, tx *database.Tx, e messaging.Erasure) (err error) {
		j, err = a.Jobs.AddTx(ctx, tx, job.New{Account: c.Account, Kind: jobs.Chat, Reference: int64(in.Reference), Args: e})
		return err
	})
	return jobs.Deleting{Success: true, Job: jobs.NewView(j)}, httpapi.InQuery(err)
}
