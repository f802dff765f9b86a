package webhook

import (
	"context"
	"log/slog"
	"time"
)

// Options configures a [Dispatcher]. Secrets is required.
type Options struct {
	// Secrets seal signing secrets and header values at rest: each has at
	// least 32 characters, the newest comes first. The first seals, all open,
	// and [New] seals again what a later one sealed, so that it can go. Other
	// packages may be given the same ones. They do not sign deliveries.
	Secrets []string
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
	// may be ahead of time, but must continue. nil: time.Now, and the database's
	// for what waits.
	Now func() time.Time
}

// Observer receives counts. Its functions must not block; nil ones are
// skipped.
type Observer struct {
	Attempted func(outcome string, duration time.Duration) // "delivered", "retried", "paused", "failed", "dead"
	// Finished is told of every delivery that is over ("delivered", "failed",
	// "dead"), and how long after its event.
	Finished func(outcome string, after time.Duration)
	Paused   func() // an endpoint went down
	Disabled func() // an endpoint answered 410 or was down for too long
}

// Policy says what follows a failure. A field that is zero has the value
// that its comment names.
type Policy struct {
	// Retries are the waits after the first, second … failed attempt of an
	// event, each varied by ±20 %; after the last retry the event is dead.
	// nil: 1 s, 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h.
	Retries []time.Duration
	// BlockFor is how long a refused event may hold back what is behind it in its
	// key. When the next retry would be later, the others pass. 10 min.
	BlockFor time.Duration
	// DownAfter is how many different events must fail in a row, as events do
	// at an endpoint that is down, before it is paused as a whole. 5.
	DownAfter int
	// ProbeFirst and ProbeLast are the waits before the first probe of a
	// paused endpoint and between later ones, doubling. 5 s, 5 min.
	ProbeFirst, ProbeLast time.Duration
	// GiveUp is how long an endpoint may be down before it is disabled.
	// 5 days.
	GiveUp time.Duration
}

func (p Policy) withDefaults() Policy {
	if p.Retries == nil {
		p.Retries = []time.Duration{
			time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
			2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
		}
	}
	if p.BlockFor == 0 {
		p.BlockFor = 10 * time.Minute
	}
	if p.DownAfter == 0 {
		p.DownAfter = 5
	}
	if p.ProbeFirst == 0 {
		p.ProbeFirst = 5 * time.Second
	}
	if p.ProbeLast == 0 {
		p.ProbeLast = 5 * time.Minute
	}
	if p.GiveUp == 0 {
		p.GiveUp = 5 * 24 * time.Hour
	}
	return p
}

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
