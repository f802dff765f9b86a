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
	Admin        bool                 `json:"admin" doc:"Whether the account may change the group."`
	Participants []GroupMember        `json:"participants" nullable:"false" doc:"Participants other than the account itself."`
	InviteLink   *string              `json:"inviteLink" doc:"Link with which anyone can join; null if only administrators can see it."`
	Left         bool                 `json:"left" doc:"Whether the account left with this request."`
	Refused      []GroupRefusal       `json:"refused" nullable:"false" doc:"People for whom the network refused the change."`
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
	Error  Failure `json:"error" doc:"The network's own error."`
}

// NewGroup is what a group is made from.
type NewGroup struct {
	Subject      string   // 1..100 characters
	Participants []string // chat ids, 1..1024
}
