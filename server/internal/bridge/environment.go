package bridge

import (
	"context"

	"github.com/trunklinehq/trunkline/aiflow/credential"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/mcp/remote"
)

// Environment finds what the flows of an account may refer to, apart from the
// functions of their project.
type Environment struct {
	Credentials *credential.Service
	Extractors  *store.Service
	Remote      *remote.Service
}

// Fill adds it to env.
func (s *Environment) Fill(ctx context.Context, q database.Reader, account string, env *flow.Environment) (err error) {
	if env.Credentials, err = s.Credentials.For(account).IDs(ctx, q); err != nil {
		return err
	}
	if env.Extractors, err = s.Extractors.For(account).Kinds(ctx, q); err != nil {
		return err
	}
	env.Servers, err = s.Remote.For(account).Known(ctx, q)
	return err
}
