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
	Reference provider.ReferenceID `json:"reference" minimum:"1" doc:"Id of the line, as list_references shows it."`
	ChatID    string               `json:"chatId" minLength:"1" maxLength:"512" doc:"Id of the chat on that line, as list_chats shows it; a phone number works on lines that have phone numbers."`
}

func (s *service) chats(r *mcp.Registry) error {
	return errors.Join(
		add(r, mcp.Function[toggleBot, toggledBot]{
			Name: "toggle_bot", Title: "Let bots answer a chat, or not", Permission: chatsSend, Reference: "reference", Idempotent: true,
			Description: "Lets bots and flows answer in one chat (active true), or silences them there (active false), for example before a person takes over. " +
				"Messages are still received. Returns the new state as botActive and the one before as previousState: 1 active, 0 silenced. " +
				"To switch one bot on or off on its whole line use set_bot_active.",
			Handler: s.toggleBot, Plan: s.planToggle,
		}, nil),
		add(r, mcp.Function[setVariable, variableSet]{
			Name: "set_variable", Title: "Set a variable of a chat", Permission: chatsSend, Reference: "reference", Idempotent: true, Destructive: true,
			Description: "Stores a named value with a chat, replacing what the name had; bots and flows read it as vars.NAME. " +
				"value is always given as text and stored as what valueType says. With valueType json and the value null the variable is removed. " +
				"All variables of a chat take at most 64 KiB.",
			Handler: s.setVariable, Plan: s.planVariable,
		}, map[string]string{"variables": "value"}),
		add(r, mcp.Function[chatArguments, variables]{
			Name: "get_variables", Title: "Read the variables of a chat", Permission: chatsRead, Reference: "reference", ReadOnly: true,
			Description: "Returns every variable that is kept with a chat, as one object by their names: what bots, flows and set_variable have stored, such as a name or an order number.",
			Handler:     s.getVariables,
		}, nil),
		add(r, mcp.Function[listChats, chatList]{
			Name: "list_chats", Title: "List the chats of a line", Permission: chatsRead, Reference: "reference", ReadOnly: true,
			Description: "Lists the conversations of one line, the newest activity first, each with its id (the chatId of other functions), the contact's name, " +
				"unread (messages nobody has read), botActive, tags, variables and its last message. Use search to find somebody by a part of the name, phone number or id. " +
				"Times are UNIX seconds. When next is not empty, give it as cursor for the chats after these.",
			Handler: s.listChats,
		}, nil),
	)
}

type toggleBot struct {
	chatArguments
	Active bool `json:"active" doc:"true: bots may answer; false: they stay silent."`
}

type toggledBot struct {
	ChatID        string               `json:"chatId" doc:"Id of the chat."`
	Reference     provider.ReferenceID `json:"reference" doc:"Id of the line."`
	BotActive     int                  `json:"botActive" doc:"1: bots answer; 0: they are silenced."`
	PreviousState int                  `json:"previousState" doc:"What botActive was before."`
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
	Reference provider.ReferenceID       `json:"reference" doc:"Id of the line."`
	Variables map[string]json.RawMessage `json:"variables" doc:"The values by their names."`
}

func (s *service) getVariables(ctx context.Context, c mcp.Call, in chatArguments) (variables, error) {
	chat, err := s.account(c).Chat(ctx, in.Reference, in.ChatID)
	return variables{chat.ID, chat.Reference, chat.Variables}, err
}

type listChats struct {
	Reference provider.ReferenceID `json:"reference" minimum:"1" doc:"Id of the line, as list_references shows it."`
	Search    string               `json:"search,omitempty" maxLength:"200" private:"true" doc:"Part of a name, phone number or id."`
	Limit     int                  `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20" doc:"How many chats, at most."`
	Cursor    string               `json:"cursor,omitempty" maxLength:"200" doc:"next of the answer before."`
}

type chatList struct {
	Chats []json.RawMessage `json:"chats" doc:"The chats, newest activity first."`
	Next  string            `json:"next" doc:"Cursor of the chats after these; empty: there are no more."`
}

func (s *service) listChats(ctx context.Context, c mcp.Call, in listChats) (chatList, error) {
	page, err := s.account(c).Chats(ctx, in.Reference, in.Search, messaging.List{Limit: in.Limit, Cursor: in.Cursor})
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
