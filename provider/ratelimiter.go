package provider

import "time"

// RateLimiter is a Session that keeps within the rates of its network: it makes
// messages wait, or returns [*RateLimited] with the time until their turn.
type RateLimiter interface {
	// Left tells of messages that left the reference lately, the oldest first. It
	// is called once, before anything is sent. What a reference remembers itself
	// because it was open before in this process is not counted twice.
	Left(sent []SentRecord)
	// Next is when a message to a contact could leave, behind others to the
	// same contact that wait. It may be past.
	Next(to Address, others int) time.Time
}

// SentRecord is that a message was handed to the network.
type SentRecord struct {
	To Address
	At time.Time
}
