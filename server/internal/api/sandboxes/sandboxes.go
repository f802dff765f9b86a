package sandboxes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// API lets simulated contacts write, and shows their phones.
type API struct {
	Echo      *webhook.Echo
	Messaging *messaging.Service
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Sandbox_Write", On: httpapi.At("path.reference"), Method: http.MethodPost, Path: "/sandbox/{reference}/messages",
		Summary: "Write as a simulated contact", Status: http.StatusCreated,
		About: "The body is `{from, pushName?, group?, type, …}` with the members of the type as in a send. `edit` and `revoke` change one of " +
			"the contact's own messages, `reaction` any message on its phone. Earlier messages to the contact are marked as read.",
		Errors: []int{http.StatusNotFound},
	}, auth.ReferencesWrite, a.sandboxWrite)
	httpapi.Register(api, httpapi.Operation{
		ID: "Sandbox_Screen", On: httpapi.At("path.reference"), Method: http.MethodGet, Path: "/sandbox/{reference}/messages",
		Summary: "List the messages on the phones of simulated contacts, newest first",
		About: "Edits, deletions and reactions are not messages of their own. They change the message, which then has `edited`, `deleted` " +
			"or `reactions` [{emoji, mine, from?}].",
		Errors: []int{http.StatusNotFound},
	}, auth.ChatsRead, a.sandboxScreen)
	httpapi.Register(api, httpapi.Operation{
		ID: "Sandbox_Typing", On: httpapi.At("path.reference"), Method: http.MethodGet, Path: "/sandbox/{reference}/typing",
		Summary: "List the chats in which simulated contacts see the typing indicator",
		About:   "The indicator is shown for 25 seconds, or until the next message.",
		Errors:  []int{http.StatusNotFound},
	}, auth.ChatsRead, a.sandboxTyping)
	httpapi.Register(api, httpapi.Operation{
		ID: "Sandbox_Echo", On: httpapi.At("path.reference"), Method: http.MethodGet, Path: "/sandbox/{reference}/echo",
		Summary: "List the last 100 deliveries to " + webhook.EchoURL + ", newest first",
		Errors:  []int{http.StatusNotFound},
	}, auth.ChatsRead, a.sandboxEcho)
}

type sandboxPath struct {
	Reference provider.ReferenceID `path:"reference" minimum:"1" doc:"Id of a reference of type provider-sandbox."`
}

// sandboxReference makes sure that a reference is the caller's and a sandbox.
func (a *API) sandboxReference(ctx context.Context, c httpapi.Call, id provider.ReferenceID) error {
	r, err := a.Messaging.For(c.Account).References().Get(ctx, id)
	if err != nil {
		return err
	}
	if r.Type != sandbox.Kind {
		return &messaging.Error{Code: messaging.CodeUnsupported, Message: "Only a reference of type " + string(sandbox.Kind) + " has simulated contacts."}
	}
	return nil
}

type sandboxMessage struct {
	Reference provider.ReferenceID `path:"reference" minimum:"1" doc:"Id of a reference of type provider-sandbox."`
	Body      simulated
}

type written struct {
	Success bool   `json:"success"`
	ID      string `json:"id" doc:"Id of the message."`
}

func (a *API) sandboxWrite(ctx context.Context, c httpapi.Call, in *sandboxMessage) (written, error) {
	if err := a.sandboxReference(ctx, c, in.Reference); err != nil {
		return written{}, err
	}
	phone, content, err := in.Body.decode()
	if err != nil {
		return written{}, err
	}
	if m, is := content.(provider.Media); is && m.StoredID != "" {
		file, err := a.Messaging.For(c.Account).Media(ctx, m.StoredID)
		if errors.Is(err, messaging.ErrNotFound) || err == nil && !c.Reaches(int64(file.Reference)) {
			err = httpapi.NotFoundAt("body.mediaId", "must be the id of a file of this account")
		}
		if err != nil {
			return written{}, err
		}
	}
	phone.Inbox, phone.Reference = a.Messaging, in.Reference
	if content, err = a.sandboxAims(ctx, c, phone, content); err != nil {
		return written{}, err
	}
	if err := a.sandboxWakes(ctx, c, &phone); err != nil {
		return written{}, err
	}
	id, err := phone.Write(ctx, content)
	return written{true, id}, err
}

// sandboxWakes makes a contact, who is about to write, read what is on the
// screen, and keep the name that he has shown before.
func (a *API) sandboxWakes(ctx context.Context, c httpapi.Call, phone *sandbox.Phone) error {
	unread, err := a.Messaging.For(c.Account).Screen().Unread(ctx, phone.Reference, phone.Name)
	if errors.Is(err, messaging.ErrNotFound) {
		return nil // a new contact
	}
	if err != nil {
		return err
	}
	phone.PushName, phone.Reads = cmp.Or(phone.PushName, unread.Name), unread.IDs
	return nil
}

type screenFilter struct {
	Reference provider.ReferenceID `path:"reference" minimum:"1" doc:"Id of a reference of type provider-sandbox."`
	From      string               `query:"from" maxLength:"80" doc:"Only the phone of this contact."`
	httpapi.PageInput
}

func (a *API) sandboxScreen(ctx context.Context, c httpapi.Call, in *screenFilter) (view.Page[screenItem], error) {
	if err := a.sandboxReference(ctx, c, in.Reference); err != nil {
		return view.Page[screenItem]{}, err
	}
	if in.From != "" {
		if err := contactName("query.from", simulatedID(in.From), false); err != nil {
			return view.Page[screenItem]{}, err
		}
	}
	p, err := a.Messaging.For(c.Account).Screen().List(ctx, in.Reference, in.From, in.List())
	return view.PageOf(p, flat), httpapi.InQuery(err)
}

func (a *API) sandboxTyping(ctx context.Context, c httpapi.Call, in *sandboxPath) (view.Page[messaging.Typing], error) {
	if err := a.sandboxReference(ctx, c, in.Reference); err != nil {
		return view.Page[messaging.Typing]{}, err
	}
	chats, err := a.Messaging.For(c.Account).Screen().Typing(ctx, in.Reference)
	return view.Page[messaging.Typing]{Items: chats}, err
}

// screenItem is a message on a contact's phone: the members of what was sent,
// with direction, id, chatId, status and messageTimestamp beside them, and
// what became of it: edited, deleted, reactions.
type screenItem map[string]any

func flat(m messaging.ScreenItem) screenItem {
	out := screenItem{}
	_ = json.Unmarshal(m.Content, &out) // a stored object
	out["direction"], out["id"], out["chatId"], out["type"] = m.Direction, m.ID, m.ChatID, m.Type
	out["status"], out["messageTimestamp"] = m.Status, m.At
	if m.Edited {
		out["edited"] = true
	}
	if m.Deleted {
		out["deleted"] = true
	}
	if len(m.Reactions) > 0 {
		out["reactions"] = m.Reactions
	}
	return out
}

// echoed is a delivery that the built-in receiver took.
type echoed struct {
	At      messaging.UnixTime `json:"at"`
	Headers []view.Header      `json:"headers" nullable:"false"`
	Body    json.RawMessage    `json:"body"`
}

func (a *API) sandboxEcho(ctx context.Context, c httpapi.Call, in *sandboxPath) (view.Page[echoed], error) {
	out := view.Page[echoed]{Items: []echoed{}}
	if err := a.sandboxReference(ctx, c, in.Reference); err != nil {
		return out, err
	}
	for _, r := range a.Echo.Last(view.WebhookScope(in.Reference)) {
		out.Items = append(out.Items, echoed{messaging.UnixTime{Time: r.At}, view.HeadersOf(r.Headers), json.RawMessage(r.Body)})
	}
	return out, nil
}
