package aiflow_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// calling is a flow whose HTTP node names a credential.
func calling(slug, credential string) string {
	return fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"flow","slug":%q,"name":"Calling","start":"begin",
		"nodes":{"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"get"}},"get":{"type":"http","config":{"url":"https://example.org","auth":%q}}}}`, slug, credential)
}

// TestEnvironment names what a draft refers to and the account does not have.
// That is looked for in the transaction that publishes, and when a project is
// imported.
func TestEnvironment(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		credentials := map[string][]string{"acme": {"mine"}}
		flows, err := aiflow.New(t.Context(), f.db, &aiflow.Options{
			Runs: f.runs,
			Environment: func(ctx context.Context, q database.Reader, account string, env *flow.Environment) error {
				var one int
				if err := q.GetContext(ctx, &one, `SELECT 1`); err != nil {
					return fmt.Errorf("asking: %w", err)
				}
				env.Credentials = append([]string{}, credentials[account]...)
				return nil
			},
		})
		require.NoError(t, err)
		f.Service, f.Account = flows, flows.For("acme")
		project := f.project(t, "P")
		good, bad := f.flow(t, project, calling("good", "mine")), f.flow(t, project, calling("bad", "yours"))
		require.Empty(t, good.Problems)
		require.Equal(t, []string{"unknown.credential"}, codes(bad.Problems))
		listed, err := f.Flows().List(t.Context(), project, aiflow.List{})
		require.NoError(t, err)
		require.Equal(t, []string{"unknown.credential"}, codes(listed.Items[1].Problems))
		f.publish(t, good.ID)
		var refused *aiflow.Refused
		_, err = f.Versions().Publish(t.Context(), bad.ID, aiflow.Publisher{})
		require.ErrorAs(t, err, &refused)
		require.Equal(t, []string{"unknown.credential"}, codes(refused.Problems))

		file, err := f.Projects().Export(t.Context(), project)
		require.NoError(t, err)
		for account, published := range map[string]bool{"acme": true, "other": false} {
			done, err := flows.For(account).Projects().Import(t.Context(), file, aiflow.Publisher{})
			require.NoError(t, err)
			require.Equal(t, published, done.Flows[0].Published, account)
		}

		credentials["acme"] = nil
		now, err := f.Flows().Get(t.Context(), good.ID)
		require.NoError(t, err)
		require.Equal(t, []string{"unknown.credential"}, codes(now.Problems), "it is gone")
		_, _, err = f.Tests().Program(t.Context(), good.ID, 0)
		require.NoError(t, err, "what is not there can be simulated")
	})
}
