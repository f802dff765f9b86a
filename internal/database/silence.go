package database

import (
	"context"
	"time"
)

const (
	// Silence is how long PostgreSQL may take to begin or continue an answer. Then its
	// connection ends, because the server, or what is between, hangs. Connections of
	// package open observe it.
	Silence = 10 * time.Second
	// choreSilence is that time of statements that search and delete many rows.
	choreSilence = 5 * time.Minute
	// buildSilence is that time of statements that build an index or copy a table.
	buildSilence = 24 * time.Hour
)

type silenceKey struct{}

// AllowSilence returns a context for statements whose answers may take longer than
// [Silence] to begin. It is none of [ForRequest].
func AllowSilence(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(context.WithValue(ctx, requestKey{}, time.Duration(0)), silenceKey{}, d)
}

// SilenceOf returns how long PostgreSQL may take to begin the answer to a statement
// with this context.
func SilenceOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(silenceKey{}).(time.Duration); ok {
		return d
	}
	return Silence
}

// Chore returns a context for statements that search and delete many rows, in the
// background: PostgreSQL may take minutes.
func Chore(ctx context.Context) context.Context { return AllowSilence(ctx, choreSilence) }
