// Package outbox sends what is queued: it makes attempts to hand a message, or
// the news that one was read, to a network, judges what came of them, and
// completes them in the transaction that finishes their jobs.
package outbox
