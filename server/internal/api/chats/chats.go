package chats

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/trunklinehq/trunkline/server/internal/view"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// API answers what concerns chats, their messages, groups and templates.
type API struct{ Messaging *messaging.Service }

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	a.chatRoutes(api)
	a.groupRoutes(api)
	a.callRoutes(api)
	a.templateRoutes(api)
}

func (a *API) chatRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Chats", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/chats/list",
		Summary: "List the chats of a reference, latest activity first",
		About: "A page with `unread`, `handoff`, `tag` or `updatedAfter` can have fewer than `limit` chats, or none, and a `next`: a request looks at no " +
			"more than 1,000 chats.",
		Errors: []int{http.StatusNotFound},
	}, auth.ChatsRead, a.listChats)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Messages", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/chats/messages",
		Summary: "List the messages of a chat, newest first",
		Errors:  []int{http.StatusNotFound},
	}, auth.ChatsRead, a.listMessages)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_SearchMessages", On: httpapi.Listing("query.reference"), Method: http.MethodGet, Path: "/chats/messages/search",
		Summary: "Search the messages of all chats, newest first",
		About: "Finds messages that have all words of `q`, in any order, in their text, caption, title, file name or `extracted` values. The last word may be " +
			"the beginning of a word. Words between quotation marks follow each other. Case and accents do not matter. A message that was edited is found by " +
			"its new text, a deleted one is not found. A page can have fewer than `limit` messages, or none, and a `next`: a request looks at no more than 500 " +
			"messages that have the words.",
		Errors: []int{http.StatusNotFound},
	}, auth.ChatsRead, a.searchMessages)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Message", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/messages/{messageId}",
		Summary: "Read a message by one of its ids or its clientId",
		About: "The id is the network's id, the `requestId` of the send or the `clientId` of the send. " +
			"If several messages have the same `clientId`, the newest is returned.",
		Errors: []int{http.StatusNotFound},
	}, auth.ChatsRead, a.readMessage)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Messaging_Send", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/chats/send", Summary: "Send a message",
		About: "Stores the message and waits for the first attempt to send it. A message that the network accepted has the status SENDING " +
			"and the network's id. A message that is still waiting has the status PENDING and an id of this server, which stays valid. " +
			"With `dryRun=1` the server checks the send and returns the result without sending.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, auth.ChatsSend, a.send)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_MarkRead", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/chats/read",
		Summary: "Mark the messages of a chat as read: all, or up to one message",
		Errors:  []int{http.StatusNotFound},
	}, auth.ChatsSend, a.markRead)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_UpdateChat", On: httpapi.At("body.reference"), Method: http.MethodPatch, Path: "/chats",
		Summary: "Change the data of a chat",
		Errors:  []int{http.StatusNotFound},
	}, auth.ChatsSend, a.updateChat)
}

type chatFilter struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	Search    string               `query:"search" maxLength:"200" doc:"Only chats with this text in a name or an id."`
	Unread    int                  `query:"unread" minimum:"0" maximum:"1" doc:"1: only chats with unread messages."`
	Handoff   string               `query:"handoff" enum:"waiting,taken" doc:"waiting: only chats in which the bot has asked for a person. taken: only chats that a person has taken over."`
	Tag       string               `query:"tag" maxLength:"100" doc:"Only chats with exactly this tag."`
	Updated   int64                `query:"updatedAfter" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only chats that changed after this time."`
	httpapi.PageInput
}

func (a *API) listChats(ctx context.Context, c httpapi.Call, in *chatFilter) (view.Page[messaging.Chat], error) {
	f := messaging.ChatFilter{Search: in.Search, Unread: in.Unread == 1, Handoff: messaging.HandoffState(in.Handoff), Tag: in.Tag, List: in.List()}
	if in.Updated > 0 {
		f.UpdatedAfter = time.Unix(in.Updated, 0)
	}
	p, err := a.Messaging.For(c.Account).Chats(ctx, in.Reference, f)
	return view.PageOf(p, view.AsIs), httpapi.InQuery(err)
}

type history struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	ChatID    string               `query:"chatId" required:"true" minLength:"1" maxLength:"512" doc:"Any id of the chat, current or former." example:"ana@sandbox"`
	Limit     int                  `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Before    string               `query:"before" maxLength:"512" doc:"A cursor, or any id of a message of the chat. Only messages that are older."`
	Cursor    string               `query:"cursor" maxLength:"512" doc:"Same as before: the next of the previous page."`
	After     string               `query:"after" maxLength:"512" doc:"A cursor, or any id of a message of the chat. Only messages that are newer."`
	Status    string               `query:"status" enum:"FAIL,PENDING,SENDING,DELIVERED,READ,PLAYED" doc:"Only messages with this status."`
	Direction string               `query:"direction" enum:"in,out" doc:"Only received messages, or only sent ones."`
	ClientID  string               `query:"clientId" maxLength:"128" doc:"Only sends with this clientId."`
}

func (a *API) listMessages(ctx context.Context, c httpapi.Call, in *history) (view.Page[messaging.Message], error) {
	p, err := a.Messaging.For(c.Account).Messages(ctx, in.Reference, in.ChatID, messaging.History{
		Limit: in.Limit, Before: in.Before, Cursor: in.Cursor, After: in.After, Status: in.Status, Direction: in.Direction, ClientID: in.ClientID,
	})
	return view.PageOf(p, view.AsIs), httpapi.InQuery(err)
}

type messageFilter struct {
	ID        string               `path:"messageId" minLength:"1" maxLength:"512" doc:"Any id of the message, or its clientId." example:"wamid.HBgL"`
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
}

func (a *API) readMessage(ctx context.Context, c httpapi.Call, in *messageFilter) (messaging.Message, error) {
	m, err := a.Messaging.For(c.Account).Message(ctx, in.Reference, "", in.ID)
	if bad, ok := errors.AsType[*messaging.Invalid](err); ok {
		err = httpapi.Invalid("path.messageId", bad.Message)
	}
	return m, err
}

type sendInput struct {
	Wait           seconds `query:"wait" doc:"How long to wait for the first attempt, in seconds. 0: do not wait."`
	DryRun         int     `query:"dryRun" minimum:"0" maximum:"1" doc:"1: check the send without sending it."`
	IdempotencyKey string  `header:"Idempotency-Key" maxLength:"255" doc:"Visible ASCII. A request with the same key and body within 24 hours returns the first message and sends nothing."`
	Body           struct {
		Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		ChatID    string               `json:"chatId" minLength:"1" maxLength:"512" example:"ana@sandbox"`
		Message   outgoing             `json:"message"`
		Context   *quoted              `json:"context,omitempty" doc:"The message to reply to."`
		ClientID  string               `json:"clientId,omitempty" minLength:"1" maxLength:"128" doc:"Your own id of the message, without control characters. It is in the record and in every event of the message. You may use it more than once." example:"order-1001"`
	}
}

type quoted struct {
	MessageID string `json:"messageId" minLength:"1" maxLength:"512" example:"wamid.HBgL"`
}

// seconds is how long to wait. huma would take 0 for none and fill in the
// default, so it remembers that it was given.
type seconds struct {
	Value int
	given bool
}

// Receiver is where huma puts the number.
func (s *seconds) Receiver() reflect.Value { return reflect.ValueOf(s).Elem().Field(0) }

// OnParamSet is not called when there is none.
func (s *seconds) OnParamSet(bool, any) { s.given = true }

func (s *seconds) duration() time.Duration {
	if !s.given {
		return messaging.DefaultWait
	}
	return time.Duration(s.Value) * time.Second
}

// Schema has the bounds and the default.
func (seconds) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeInteger, Format: "int64", Minimum: new(float64(0)), Maximum: new(float64(30)),
		Default: int(messaging.DefaultWait / time.Second),
	}
}

type sendOutput struct {
	Replayed string `header:"Idempotent-Replayed" doc:"true if the key was used before and nothing was sent."`
	Body     sendAnswer
}

// sendAnswer is a sendResult, or a messaging.SendCheck after a dry run.
type sendAnswer struct{ either any }

// MarshalJSON writes the one that it is.
func (a sendAnswer) MarshalJSON() ([]byte, error) { return json.Marshal(a.either) }

// Schema describes both.
func (sendAnswer) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "With dryRun=1 a MessagingSendCheck, otherwise a SendResult.",
		OneOf: []*huma.Schema{
			r.Schema(reflect.TypeFor[sendResult](), true, ""), r.Schema(reflect.TypeFor[messaging.SendCheck](), true, ""),
		},
	}
}

type sendResult struct {
	Success bool              `json:"success"`
	Message messaging.Message `json:"message"`
}

func (a *API) send(ctx context.Context, c httpapi.Call, in *sendInput) (*sendOutput, error) {
	content, err := messaging.DecodeContent(json.RawMessage(in.Body.Message))
	if err != nil {
		return nil, err
	}
	tag, err := messaging.DecodeTag(json.RawMessage(in.Body.Message))
	if err != nil {
		return nil, err
	}
	req := messaging.SendRequest{
		Reference: in.Body.Reference, ChatID: in.Body.ChatID, Content: content, Tag: tag,
		ClientID: in.Body.ClientID, IdempotencyKey: in.IdempotencyKey, Wait: in.Wait.duration(), FilesOf: c.Only,
	}
	if c.Cookie {
		req.Actor = messaging.ActorUser // a person in a browser, whom the bot makes way for
	}
	if in.Body.Context != nil {
		req.ReplyTo = in.Body.Context.MessageID
	}
	if in.DryRun == 1 {
		check, err := a.Messaging.For(c.Account).Check(ctx, req)
		return &sendOutput{Body: sendAnswer{check}}, err
	}
	sent, err := a.Messaging.For(c.Account).Send(ctx, req)
	out := &sendOutput{Body: sendAnswer{sendResult{true, sent.Message}}}
	if sent.Replayed {
		out.Replayed = "true"
	}
	return out, err
}

type readInput struct {
	Body struct {
		Reference provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		ChatID    string               `json:"chatId" minLength:"1" maxLength:"512" example:"ana@sandbox"`
		MessageID string               `json:"messageId,omitempty" maxLength:"512" doc:"Marks messages up to this one as read. If absent, marks all."`
		Typing    bool                 `json:"typing,omitempty" doc:"Whether to show the contact that an answer is being written, where the network supports it."`
	}
}

type readResult struct {
	Success bool  `json:"success"`
	Unread  int64 `json:"unread" doc:"Number of messages that are still unread."`
}

func (a *API) markRead(ctx context.Context, c httpapi.Call, in *readInput) (readResult, error) {
	mark := a.Messaging.For(c.Account).MarkRead
	if in.Body.Typing {
		mark = a.Messaging.For(c.Account).MarkReadTyping
	}
	left, err := mark(ctx, in.Body.Reference, in.Body.ChatID, in.Body.MessageID)
	return readResult{true, left}, err
}

type chatInput struct {
	Body struct {
		Reference provider.ReferenceID       `json:"reference" minimum:"1" example:"1"`
		ChatID    string                     `json:"chatId" minLength:"1" maxLength:"512" example:"ana@sandbox"`
		BotActive *flag                      `json:"botActive,omitempty"`
		Variables map[string]json.RawMessage `json:"variables,omitempty" doc:"Merged with the stored ones by name. null removes a name."`
		Fields    map[string]json.RawMessage `json:"fields,omitempty" doc:"Merged with the stored ones by name. null removes a name."`
		Tags      *[]string                  `json:"tags,omitempty" maxItems:"100" doc:"Replaces all tags."`
		Name      clearable                  `json:"name,omitempty" maxLength:"200" doc:"null or empty: show the contact's own name again."`
		Language  clearable                  `json:"language,omitempty" maxLength:"35" doc:"null or empty: remove the language."`
		OptedOut  *bool                      `json:"optedOut,omitempty"`
		Handoff   string                     `json:"handoff,omitempty" enum:"take,close" doc:"take: a person answers from now on; close: bots may answer again."`
	}
}

func (a *API) updateChat(ctx context.Context, c httpapi.Call, in *chatInput) (messaging.Chat, error) {
	b := in.Body
	change := messaging.ChatChange{
		BotActive: (*bool)(b.BotActive), Variables: b.Variables, Fields: b.Fields, Name: b.Name.text, Language: b.Language.text,
		OptedOut: b.OptedOut, Handoff: b.Handoff,
	}
	if b.Tags != nil {
		change.Tags = append([]string{}, *b.Tags...)
	}
	return a.Messaging.For(c.Account).UpdateChat(ctx, b.Reference, b.ChatID, change)
}

// clearable is a text that null clears as "" does; absent, it stays.
type clearable struct{ text *string }

// UnmarshalJSON is called with null, too.
func (t *clearable) UnmarshalJSON(b []byte) error {
	t.text = new(string)
	return json.Unmarshal(b, t.text)
}

// Schema says that null is taken.
func (clearable) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// flag is a boolean that may be written as 0 and 1, as it is shown.
type flag bool

// UnmarshalJSON reads true, false, 1 and 0.
func (f *flag) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true", "1":
		*f = true
	case "false", "0":
		*f = false
	default:
		return &httpapi.MemberError{At: "body.botActive", Message: "must be true, false, 1 or 0"}
	}
	return nil
}

// Schema says that both forms are taken.
func (flag) Schema(huma.Registry) *huma.Schema {
	return httpapi.DescribedSchema("", &huma.Schema{Type: huma.TypeBoolean}, &huma.Schema{Type: huma.TypeInteger, Enum: []any{0, 1}})
}

// ChatQuery names a chat in a query.
type ChatQuery struct {
	Reference provider.ReferenceID `query:"reference" required:"true" minimum:"1" doc:"Id of the reference."`
	ChatID    string               `query:"chatId" required:"true" minLength:"1" maxLength:"512" doc:"Any id of the chat, current or former." example:"ana@sandbox"`
}
