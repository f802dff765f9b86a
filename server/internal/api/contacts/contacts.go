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
		Summary: "Look up the ids and names of a contact by one of them",
		About:   "Accepts any current or former id of the chat, in any form that a send accepts, or the contact's user name.",
		Errors:  []int{http.StatusNotFound},
	}, auth.ChatsRead, a.resolve)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_CheckNumber", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/chats/check",
		Summary: "Check whether a phone number has an account on the network",
		About: "Results are cached for 24 hours. A reference checks at most 20 new numbers a minute; further requests answer `rate_limited`. " +
			"References whose network has no such check answer `unsupported`.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, auth.ChatsRead, a.checkNumber)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Messaging_Export", Method: http.MethodGet, Path: "/chats/export",
		Summary: "Export all stored data about a contact or a group",
		About: "The export has the chat and its ids, its messages with statuses, files and the content of sends, messages of the contact in groups, calls, " +
			"other reports of the network about it, and webhook deliveries with their bodies. The response is streamed; " +
			"a response that is cut off is not valid JSON.",
		Errors: []int{http.StatusNotFound},
	}, auth.UsersManage, a.exportChat)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_DeleteChat", Method: http.MethodDelete, Path: "/chats", Status: http.StatusAccepted,
		Summary: "Erase all stored data about a contact or a group",
		About: "Erases what an export contains: messages, files, messages of the contact in groups, and queued messages. The log of deliveries keeps the times, " +
			"but not the bodies. The chat is no longer found after the response, and the stream sends `resync`; a job erases the rest. " +
			"A later message of the contact starts a new chat.",
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
