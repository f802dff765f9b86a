package functions

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// chatArguments name a chat.
type chatArguments struct {
	Reference provider.ReferenceID `json:"reference" minimum:"1" doc:"Id of the reference, as list_references returns it."`
	ChatID    string               `json:"chatId" minLength:"1" maxLength:"512" doc:"Id of the chat in that reference, as list_chats returns it. A phone number works if the network has phone numbers."`
}

func (s *service) chats(r *mcp.Registry) error {
	return errors.Join(
		add(r, mcp.Function[toggleBot, toggledBot]{
			Name: "toggle_bot", Title: "Switch bots on or off in a chat", Permission: chatsSend, Reference: "reference", Idempotent: true,
			Description: "Lets bots and flows answer in one chat (active true), or switches them off there (active false), for example before a person takes over. " +
				"Messages are still received. Returns the new state as botActive and the previous one as previousState: 1 on, 0 off. " +
				"To switch one bot on or off in its whole reference, use set_bot_active.",
			Handler: s.toggleBot, Plan: s.planToggle,
		}, nil),
		add(r, mcp.Function[setVariable, variableSet]{
			Name: "set_variable", Title: "Set a variable of a chat", Permission: chatsSend, Reference: "reference", Idempotent: true, Destructive: true,
			Description: "Stores a named value with a chat and replaces its previous value. Bots and flows read it as vars.NAME. " +
				"value is always a text; valueType says what it is converted to. valueType json with the value null removes the variable. " +
				"All variables of a chat together take at most 64 KiB.",
			Handler: s.setVariable, Plan: s.planVariable,
		}, map[string]string{"variables": "value"}),
		add(r, mcp.Function[chatArguments, variables]{
			Name: "get_variables", Title: "Read the variables of a chat", Permission: chatsRead, Reference: "reference", ReadOnly: true,
			Description: "Returns all variables of a chat as one object, by name: values that bots, flows and set_variable have stored, such as a name or an order number.",
			Handler:     s.getVariables,
		}, nil),
		add(r, mcp.Function[listChats, chatList]{
			Name: "list_chats", Title: "List the chats of a reference", Permission: chatsRead, Reference: "reference", ReadOnly: true,
			Description: "Lists the chats of one reference, latest activity first. Each has its id (the chatId of other functions), the contact's name, " +
				"unread (number of unread messages), botActive, tags, variables and its last message. Use search to find a contact by a part of the name, phone number or id. " +
				"Times are UNIX seconds. If next is not empty, pass it as cursor to get the next chats.",
			Handler: s.listChats,
		}, nil),
	)
}

type toggleBot struct {
	chatArguments
	Active bool `json:"active" doc:"true: bots may answer; false: they do not answer."`
}

type toggledBot struct {
	ChatID        string               `json:"chatId" doc:"Id of the chat."`
	Reference     provider.ReferenceID `json:"reference" doc:"Id of the reference."`
	BotActive     int                  `json:"botActive" doc:"1: bots may answer; 0: they do not answer."`
	PreviousState int                  `json:"previousState" doc:"Previous value of botActive."`
}

func (s *service) toggleBot(ctx context.Context, c mcp.Call, in toggleBot) (toggledBot, error) {
	chat, before, err := s.account(c).SwitchBot(ctx, in.Reference, in.ChatID, in.Active)
	return toggledBot{chat.ID, chat.Reference, chat.BotActive, number(before)}, err
}

func (s *service) planToggle(ctx context.Context, c mcp.Call, in toggleBot) (any, error) {
	chat, err := s.wouldBe(ctx, c, in.chatArguments)
	return toggledBot{chat.ID, chat.Reference, number(in.Active), chat.BotActive}, err
}

// wouldBe returns the chat that a change would affect. For one that does not exist
// yet it returns a new one.
func (s *service) wouldBe(ctx context.Context, c mcp.Call, in chatArguments) (messaging.Chat, error) {
	chat, err := s.account(c).Chat(ctx, in.Reference, in.ChatID)
	if !errors.Is(err, messaging.ErrNotFound) {
		return chat, err
	}
	ids, err := s.account(c).ChatIDs(ctx, in.Reference, in.ChatID) // check that the reference exists and can have such a chat
	if err != nil {
		return chat, err
	}
	return messaging.Chat{ID: ids[0], Reference: in.Reference, BotActive: 1}, nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

type variables struct {
	ChatID    string                     `json:"chatId" doc:"Id of the chat."`
	Reference provider.ReferenceID       `json:"reference" doc:"Id of the reference."`
	Variables map[string]json.RawMessage `json:"variables" doc:"The values by name."`
}

func (s *service) getVariables(ctx context.Context, c mcp.Call, in chatArguments) (variables, error) {
	chat, err := s.account(c).Chat(ctx, in.Reference, in.ChatID)
	return variables{chat.ID, chat.Reference, chat.Variables}, err
}

type listChats struct {
	Reference provider.ReferenceID `json:"reference" minimum:"1" doc:"Id of the reference, as list_references returns it."`
	Search    string               `json:"search,omitempty" maxLength:"200" private:"true" doc:"Part of a name, a phone number or an id."`
	Unread    bool                 `json:"unread,omitempty" doc:"true: only chats with unread messages."`
	Handoff   string               `json:"handoff,omitempty" enum:"waiting,taken" doc:"waiting: only chats in which the bot has asked for a person. taken: only chats that a person has taken over."`
	Tag       string               `json:"tag,omitempty" maxLength:"100" doc:"Only chats with exactly this tag."`
	Limit     int                  `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of chats."`
	Cursor    string               `json:"cursor,omitempty" maxLength:"200" doc:"The next of the previous answer."`
}

type chatList struct {
	Chats []json.RawMessage `json:"chats" doc:"The chats, latest activity first."`
	Next  string            `json:"next" doc:"Cursor of the next chats; empty if there are no more."`
}

func (s *service) listChats(ctx context.Context, c mcp.Call, in listChats) (chatList, error) {
	page, err := s.account(c).Chats(ctx, in.Reference, messaging.ChatFilter{
		Search: in.Search, Unread: in.Unread, Handoff: messaging.HandoffState(in.Handoff), Tag: in.Tag, List: messaging.List{Limit: in.Limit, Cursor: in.Cursor},
	})
	if err != nil {
		return chatList{}, err
	}
	for i := range page.Items {
		if last := page.Items[i].LastMessage; last != nil {
			slim(last)
		}
	}
	items, err := objects(page.Items)
	return chatList{items, page.Next}, err
}
