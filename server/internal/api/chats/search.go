package chats

import (
	"context"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

type messageSearch struct {
	Text      string               `query:"q" required:"true" minLength:"1" maxLength:"200" doc:"Words, and phrases between quotation marks." example:"invoice"`
	Reference provider.ReferenceID `query:"reference" minimum:"1" doc:"Only messages of this reference. If absent, of all references on which the caller has the permission."`
	ChatID    string               `query:"chatId" maxLength:"512" doc:"Only messages of this chat of the reference: any id of the chat, current or former." example:"ana@sandbox"`
	From      int64                `query:"from" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only messages from this time or later."`
	To        int64                `query:"to" minimum:"0" maximum:"253402300799" doc:"UNIX seconds. Only messages from before this time."`
	Type      string               `query:"type" enum:"text,image,video,document,audio" doc:"Only messages of this type."`
	httpapi.PageInput
}

func (a *API) searchMessages(ctx context.Context, c httpapi.Call, in *messageSearch) (view.Page[messaging.FoundMessage], error) {
	q := messaging.SearchQuery{
		Text: in.Text, References: c.Only, Reference: in.Reference, ChatID: in.ChatID, Type: in.Type, List: in.List(),
	}
	if in.From != 0 {
		q.From = time.Unix(in.From, 0)
	}
	if in.To != 0 {
		q.To = time.Unix(in.To, 0)
	}
	p, err := a.Messaging.For(c.Account).SearchMessages(ctx, q)
	return view.PageOf(p, view.AsIs), httpapi.InQuery(err)
}
