package server

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
)

// beside marks what a service finds wrong with a body beside what its schema
// says, so that both are answered together.
type beside struct{}

type serverKey struct{}

// serverOf is the server that answers a request.
func serverOf(ctx context.Context) *Server {
	s, _ := ctx.Value(serverKey{}).(*Server)
	return s
}

// besides are the errors of a service as huma collects them.
func besides(err error) []error {
	if err == nil {
		return nil
	}
	p := known(err)
	if p == nil {
		return []error{err}
	}
	out := make([]error, len(p.Errors))
	for i, e := range p.Errors {
		out[i] = &huma.ErrorDetail{Location: e.Location, Message: e.Message, Value: beside{}}
	}
	return out
}
