package provider

import "time"

// RateLimiter is a Session that limits its send rate. Its Send returns
// [*RateLimited] with the time until a message may be sent.
type RateLimiter interface {
	// Left tells the session which messages the reference has sent recently,
	// the oldest first. It is called once, before anything is sent. Messages
	// that an earlier session of this process has counted are not counted
	// again.
	Left(sent []SentRecord)
	// Next returns how long it takes until a message to a contact may be sent,
	// behind others to the same contact. It may be negative.
	Next(to Address, others int) time.Duration
}

// SentRecord says how long ago a message was handed to the network, perhaps by
// another machine, whose clock shows another time.
type SentRecord struct {
	To  Address
	Ago time.Duration // not negative
}
