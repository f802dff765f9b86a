package payload

import (
	"github.com/trunklinehq/trunkline/provider"
)

// Group is a group as its network describes it.
type Group struct {
	ChatID       string               `json:"chatId" example:"120363041234567890@g.us"`
	Reference    provider.ReferenceID `json:"reference"`
	Subject      string               `json:"subject"`
	Description  string               `json:"description"`
	Admin        bool                 `json:"admin" doc:"The account may change it."`
	Participants []GroupMember        `json:"participants" nullable:"false" doc:"The account itself is not among them."`
	InviteLink   *string              `json:"inviteLink" doc:"By which anybody can join; null: only administrators see it."`
	Left         bool                 `json:"left" doc:"The account has just left it."`
	Refused      []GroupRefusal       `json:"refused" nullable:"false" doc:"With whom the network did not do what this request asked for."`
	CreatedAt    *UnixTime            `json:"createdAt"`
}

// GroupMember is a person in a group.
type GroupMember struct {
	ChatID string  `json:"chatId" example:"16505551234"`
	Phone  *string `json:"phone"`
	Name   string  `json:"name"`
	Admin  bool    `json:"admin"`
}

// GroupRefusal is a person for whom a change could not be made.
type GroupRefusal struct {
	ChatID string  `json:"chatId"`
	Error  Failure `json:"error" doc:"In the network's own words."`
}

// NewGroup is what a group is made from.
type NewGroup struct {
	Subject      string   // 1..100 characters
	Participants []string // chat ids, 1..1024
}
