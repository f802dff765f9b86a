package webhook

import (
	"context"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/webhook/internal/delivery"
)

// Options configures a [Dispatcher]. Secrets is required.
type Options struct {
	// Secrets seal signing secrets and header values at rest: each has at
	// least 32 characters, the newest comes first. The first seals, all open,
	// and [New] seals again what a later one sealed, so that it can go. Other
	// packages may be given the same ones. They do not sign deliveries.
	Secrets []string
	// Types are the types of events that there are, in the order in which lists show them.
	// nil: any, and endpoints may ask for all that begin with the same words, as order.*.
	Types []Type
	// UserAgent is that of requests; "": Webhook.
	UserAgent string
	// HeaderPrefix begins the names of the headers that say an event's type and sequence;
	// "": Webhook-, which makes Webhook-Event and Webhook-Sequence.
	HeaderPrefix string
	// Allow lists networks, addresses and hosts, each with or without a port,
	// that endpoints may have although they are private.
	Allow []string
	// Echo receives what goes to [EchoURL]. nil: that URL is refused.
	Echo *Echo
	// Formats are the forms, in addition to [OwnFormat], in which endpoints may ask for
	// their events, by their names.
	Formats map[string]Format
	// Policy says what follows a failure. Its zero value is the usual one.
	Policy Policy
	// Timeout bounds one attempt; 0: 15 s.
	Timeout time.Duration
	// Cap is the most requests under way to one endpoint from this process;
	// 0: 16.
	Cap int
	// Workers is the most requests under way from this process; 0: 64. Those
	// that take longer than 250 ms do not count, up to four times as many.
	Workers int
	// Retention is how long events and the delivery log are kept, pending
	// deliveries included: give it more than the days an event is retried for.
	// 0: for ever.
	Retention time.Duration
	// Lease is how long a process that is frozen, or cut off from the database,
	// keeps what it has in hand; another one takes it over then, or when the
	// process has not been heard of for 10 s. 0: 60 s.
	Lease time.Duration
	// Exclusive says that no other process uses the database, so that what a
	// killed predecessor held is taken up at once.
	Exclusive bool
	// Sink is told of every attempt. nil: nothing is told.
	Sink Sink
	// Trace begins the span of an attempt, "webhook.deliver", below parent, the
	// W3C traceparent of what the event follows from, or "". It returns the
	// context of the attempt, the span's own traceparent, which the request
	// carries as the header traceparent, and what ends the span, with ids, kinds
	// and counts. nil: nothing is traced.
	Trace func(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr))
	// Observer counts what an operator watches. nil: nothing is counted.
	Observer *Observer
	Logger   *slog.Logger // nil: slog.Default()
	// Now is the clock by which events wait, secrets rotate and logs age; it
	// may be ahead of time, but must continue. nil: the database's, and this machine's
	// for the timestamps of signatures.
	Now func() time.Time
}

// Observer receives counts. Its functions must not block; nil ones are
// skipped.
type Observer = delivery.Observer

// Policy says what follows a failure. A field that is zero has the value
// that its comment names.
type Policy = delivery.Policy

// Sink takes part in the transaction that records attempts. AttemptsTx must
// only write rows: an error undoes the transaction, and the attempts are made
// again. It may run more than once before a commit.
type Sink interface {
	AttemptsTx(ctx context.Context, tx Tx, as []Attempted) error
}

// Attempted is an attempt as a [Sink] learns of it.
type Attempted struct {
	Account, Scope string
	// Delivery is as the attempt leaves it, with no attempt but this one.
	Delivery Delivery
	// Number counts the attempts of a delivery, from 1: also one that could
	// not be recorded, but none of an endpoint that is down. A replay begins
	// again.
	Number int
}
