package chats

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

func (a *API) groupRoutes(api *httpapi.API) {
	const refs = "References that cannot manage groups answer `unsupported`. A reference that can send to groups uses their chat ids."
	problems := []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway}
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_CreateGroup", On: httpapi.At("body.reference"), Method: http.MethodPost, Path: "/chats/group", Status: http.StatusCreated,
		Summary: "Create a group", About: "`refused` lists the people whom the network did not add. " + refs, Errors: problems,
	}, auth.ChatsSend, a.createGroup)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Group", On: httpapi.At("query.reference"), Method: http.MethodGet, Path: "/chats/group",
		Summary: "Show a group as the network has it now", About: refs, Errors: problems,
	}, auth.ChatsRead, a.showGroup)
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_EditGroup", On: httpapi.At("body.reference"), Method: http.MethodPatch, Path: "/chats/group",
		Summary: "Change a group, or leave it",
		About: "The changes are made in this order: subject, participants, invitation link, leaving the group. The server checks all of them before the first request to the network. " +
			"If the network refuses one, the changes before it remain. " + refs,
		Errors: problems,
	}, auth.ChatsSend, a.editGroup)
}

type newGroup struct {
	Body struct {
		Reference    provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		Subject      string               `json:"subject" minLength:"1" maxLength:"100" example:"Friends"`
		Participants []string             `json:"participants" nullable:"false" maxItems:"1024" doc:"Chat ids of the people to add: at least one." example:"[\"ana@sandbox\"]"`
	}
}

func (a *API) createGroup(ctx context.Context, c httpapi.Call, in *newGroup) (messaging.Group, error) {
	return a.Messaging.For(c.Account).Groups().Create(ctx, in.Body.Reference, messaging.NewGroup{Subject: in.Body.Subject, Participants: in.Body.Participants})
}

func (a *API) showGroup(ctx context.Context, c httpapi.Call, in *ChatQuery) (messaging.Group, error) {
	g, err := a.Messaging.For(c.Account).Groups().Get(ctx, in.Reference, in.ChatID)
	return g, httpapi.InQuery(err)
}

type groupEdit struct {
	Body struct {
		Reference   provider.ReferenceID `json:"reference" minimum:"1" example:"1"`
		ChatID      string               `json:"chatId" minLength:"1" maxLength:"512" example:"120363041234567890@g.us"`
		Subject     *string              `json:"subject,omitempty" minLength:"1" maxLength:"100"`
		Add         []string             `json:"add,omitempty" maxItems:"1024" doc:"Chat ids of the people to add."`
		Remove      []string             `json:"remove,omitempty" maxItems:"1024"`
		Promote     []string             `json:"promote,omitempty" maxItems:"1024" doc:"Chat ids of the participants to make administrators."`
		Demote      []string             `json:"demote,omitempty" maxItems:"1024"`
		ResetInvite bool                 `json:"resetInvite,omitempty" doc:"Whether to replace the invitation link. Earlier links stop working."`
		Leave       bool                 `json:"leave,omitempty"`
	}
}

func (a *API) editGroup(ctx context.Context, c httpapi.Call, in *groupEdit) (messaging.Group, error) {
	b := in.Body
	return a.Messaging.For(c.Account).Groups().Edit(ctx, b.Reference, b.ChatID, messaging.GroupEdit{
		Subject: b.Subject, Add: b.Add, Remove: b.Remove, Promote: b.Promote, Demote: b.Demote, ResetInvite: b.ResetInvite, Leave: b.Leave,
	})
}
