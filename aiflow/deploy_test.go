package aiflow_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

func rateOf(percent int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"format":"trunkline-flow/1","kind":"function","slug":"vat","name":"VAT","start":"give",
		"args":{"price":{"type":"number"}},"returns":{"gross":{"type":"number"}},
		"nodes":{"give":{"type":"return","config":{"value":{"gross":"{{ args.price + args.price * %d / 100 }}"}}}}}`, percent))
}

func billing(name string) json.RawMessage {
	return json.RawMessage(`{"format":"trunkline-flow/1","kind":"flow","slug":"bill","name":"` + name + `","start":"begin",
		"variables":{"sum":{"type":"object"}},
		"nodes":{"begin":{"type":"trigger","config":{"on":[{"kind":"api"}]},"next":{"out":"tax"}},
			"tax":{"type":"call","config":{"function":"vat","args":{"price":"{{ input.price }}"},"saveTo":"sum"},"next":{"out":"end"}},
			"end":{"type":"end","config":{"result":"{{ vars.sum.gross }}"}}}}`)
}

// TestDeploy is a program that starts again and again, on two nodes at once, at
// last with other documents.
func TestDeploy(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.running(t)
		bring := func(name string, percent int) aiflow.Deployment {
			return aiflow.Deployment{Project: "Shop", Flow: billing(name), Functions: []json.RawMessage{rateOf(percent)}}
		}
		var got [2]aiflow.Flow
		var errs [2]error
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i], errs[i] = f.Deploy(t.Context(), bring("Bill", 20)) })
		}
		wg.Wait()
		for i := range got {
			require.NoError(t, errs[i])
			require.Equal(t, got[0].ID, got[i].ID)
			require.EqualValues(t, 1, got[i].Published.Version)
			require.EqualValues(t, 1, got[i].Revision)
		}
		projects, err := f.Projects().List(t.Context(), aiflow.List{})
		require.NoError(t, err)
		require.Len(t, projects.Items, 1)
		require.Equal(t, "Shop", projects.Items[0].Name)
		run, err := f.Runs().Start(t.Context(), aiflow.Start{Flow: got[0].ID, Input: map[string]any{"price": 10}})
		require.NoError(t, err)
		require.Equal(t, runtime.Completed, run.Status)
		require.JSONEq(t, `12`, string(run.Output))

		again, err := f.Deploy(t.Context(), bring("Bill", 20))
		require.NoError(t, err)
		require.Equal(t, got[0], again, "nothing has changed")

		next, err := f.Deploy(t.Context(), bring("Invoice", 50))
		require.NoError(t, err)
		require.Equal(t, got[0].ID, next.ID)
		require.Equal(t, "Invoice", next.Name)
		require.EqualValues(t, 2, next.Published.Version)
		run, err = f.Runs().Start(t.Context(), aiflow.Start{Flow: next.ID, Input: map[string]any{"price": 10}})
		require.NoError(t, err)
		require.JSONEq(t, `15`, string(run.Output))

		other, err := f.For("another").Deploy(t.Context(), bring("Bill", 20))
		require.NoError(t, err)
		require.NotEqual(t, next.ID, other.ID)
	})
}

func TestDeployRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		var invalid *aiflow.Invalid
		_, err := f.Deploy(t.Context(), aiflow.Deployment{Flow: billing("Bill")})
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, "project", invalid.Field)
		for name, d := range map[string]aiflow.Deployment{
			"no flow": {}, "no JSON": {Flow: json.RawMessage(`{`)}, "without its function": {Flow: billing("Bill")},
			"a function that is none": {Flow: billing("Bill"), Functions: []json.RawMessage{json.RawMessage(`{}`)}},
		} {
			d.Project = "Shop"
			_, err := f.Deploy(t.Context(), d)
			var refused *aiflow.Refused
			require.ErrorAs(t, err, &refused, name)
			require.NotEmpty(t, refused.Problems, name)
		}
		projects, err := f.Projects().List(t.Context(), aiflow.List{})
		require.NoError(t, err)
		require.Empty(t, projects.Items, "all of it or nothing")

		project, err := f.Projects().Create(t.Context(), aiflow.NewProject{Name: "Shop"})
		require.NoError(t, err)
		f.published(t, project.ID, string(rateOf(20)))
		d := aiflow.Deployment{Project: "Shop", Flow: billing("Bill"), Functions: []json.RawMessage{rateOf(20)}}
		_, err = f.Deploy(t.Context(), d)
		require.NoError(t, err, "a project of the same name that a user has made is another")
	})
}
