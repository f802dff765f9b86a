package provider

import (
	"context"
	"time"
)

// GroupManager is a Session that can make groups and change those that the
// account is in. A group that it does not know is a [*BadRecipient]; what the
// account may not do is a [*Rejected].
type GroupManager interface {
	// CreateGroup makes a group of the account and others. Those whom the
	// network would not add are in Refused.
	CreateGroup(ctx context.Context, subject string, participants []Address) (Group, error)
	Group(ctx context.Context, chat Address) (Group, error)
	SetGroupSubject(ctx context.Context, chat Address, subject string) error
	// ChangeParticipants returns those whom the network refused, one by one.
	ChangeParticipants(ctx context.Context, chat Address, change ParticipantChange, who []Address) ([]RefusedParticipant, error)
	// GroupInvite returns the link by which anybody can join. With reset it is
	// a new one, and the old ones lead nowhere any more.
	GroupInvite(ctx context.Context, chat Address, reset bool) (string, error)
	LeaveGroup(ctx context.Context, chat Address) error
}

// ParticipantChange is what is done with participants of a group.
type ParticipantChange string

// What can be done with participants.
const (
	ParticipantAdd     ParticipantChange = "add"
	ParticipantRemove  ParticipantChange = "remove"
	ParticipantPromote ParticipantChange = "promote" // to an administrator
	ParticipantDemote  ParticipantChange = "demote"
)

// Group is a group as its network describes it.
type Group struct {
	Chat         Address
	Subject      string
	Description  string
	Admin        bool // the account may change it
	CreatedAt    time.Time
	Participants []Participant        // the account is not among them
	Refused      []RefusedParticipant // by the call that returned the group
}

// Participant is a member of a group.
type Participant struct {
	Contact
	Admin bool
}

// RefusedParticipant is a person with whom the network did not do what it was
// asked for.
type RefusedParticipant struct {
	Address
	Failure
}
