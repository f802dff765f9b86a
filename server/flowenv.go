package server

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// environment is what the flows of an account may refer to beside the functions
// of their project.
func (s *Server) environment(ctx context.Context, q sqlx.QueryerContext, account string, env *flow.Environment) (err error) {
	if env.Credentials, err = s.Credentials.For(account).IDs(ctx, q); err != nil {
		return err
	}
	if env.Extractors, err = s.Extractors.For(account).Kinds(ctx, q); err != nil {
		return err
	}
	env.Servers, err = s.Remote.For(account).Known(ctx, q)
	return err
}
