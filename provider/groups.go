package provider

import (
	"context"
	"time"
)

// GroupManager is a Session that can create groups and change those of the
// account. A group that does not exist is a [*BadRecipient]; what the account
// may not do is a [*Rejected].
type GroupManager interface {
	// CreateGroup creates a group of the account and others. The people whom
	// the network refused to add are in Refused.
	CreateGroup(ctx context.Context, subject string, participants []Address) (Group, error)
	Group(ctx context.Context, chat Address) (Group, error)
	SetGroupSubject(ctx context.Context, chat Address, subject string) error
	// ChangeParticipants returns the people whom the network refused.
	ChangeParticipants(ctx context.Context, chat Address, change ParticipantChange, who []Address) ([]RefusedParticipant, error)
	// GroupInvite returns the link by which people can join. With reset it
	// returns a new link, and older links stop working.
	GroupInvite(ctx context.Context, chat Address, reset bool) (string, error)
	LeaveGroup(ctx context.Context, chat Address) error
}

// ParticipantChange is a change of participants of a group.
type ParticipantChange string

// The values of [ParticipantChange].
const (
	ParticipantAdd     ParticipantChange = "add"
	ParticipantRemove  ParticipantChange = "remove"
	ParticipantPromote ParticipantChange = "promote" // to administrator
	ParticipantDemote  ParticipantChange = "demote"
)

// Group describes a group.
type Group struct {
	Chat         Address
	Subject      string
	Description  string
	Admin        bool // the account may change the group
	CreatedAt    time.Time
	Participants []Participant        // without the account itself
	Refused      []RefusedParticipant // people whom the call that returned the group could not add
}

// Participant is a member of a group.
type Participant struct {
	Contact
	Admin bool
}

// RefusedParticipant is a person whom the network did not add or change.
type RefusedParticipant struct {
	Address
	Failure
}
