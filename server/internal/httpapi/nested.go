package httpapi

import "context"

type nestedKey struct{}

// WithNested returns ctx of a request that a flow or an agent makes, be it of
// this server or of another: what it calls must begin nothing that calls on in
// its turn.
func WithNested(ctx context.Context) context.Context {
	return context.WithValue(ctx, nestedKey{}, true)
}

// IsNested reports whether a flow or an agent is calling.
func IsNested(ctx context.Context) bool { return ctx.Value(nestedKey{}) != nil }
