package httpapi

import "github.com/danielgtaylor/huma/v2"

// extraError marks what a service finds wrong with a body beside what its schema
// says, so that both are answered together.
type extraError struct{}

// CheckerOf returns what the operation of a request has as its checker, for
// the Resolve method of its input.
func CheckerOf[T any](c huma.Context) T {
	v, _ := c.Operation().Metadata[checker].(T)
	return v
}

// ResolveErrors returns the errors of a service as huma collects them.
func ResolveErrors(err error, known Translators) []error {
	if err == nil {
		return nil
	}
	p := known.Problem(err)
	if p == nil {
		return []error{err}
	}
	out := make([]error, len(p.Errors))
	for i, e := range p.Errors {
		out[i] = &huma.ErrorDetail{Location: e.Location, Message: e.Message, Value: extraError{}}
	}
	return out
}
