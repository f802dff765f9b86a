package aiflow_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// written is a file as it travels.
func written(t *testing.T, f aiflow.File) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(f))
	return b.String()
}

// travel exports a project, and imports it into another account.
func (f *fixture) travel(t *testing.T, project string) (before, after aiflow.File, done aiflow.Imported) {
	t.Helper()
	before, err := f.Projects().Export(t.Context(), project)
	require.NoError(t, err)
	var file aiflow.File
	require.NoError(t, json.Unmarshal([]byte(written(t, before)), &file))
	other := f.For("other")
	done, err = other.Projects().Import(t.Context(), file, aiflow.Publisher{})
	require.NoError(t, err)
	after, err = other.Projects().Export(t.Context(), done.Project.ID)
	require.NoError(t, err)
	return before, after, done
}

// TestTravel takes a project to another account, where it runs as it did:
// also what is pinned to a function of before.
func TestTravel(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		f.running(t)
		project := f.project(t, "Shop <&> 🙂")
		main := f.flow(t, project, using("main", "outer"))
		double := f.published(t, project, function("double", "args.n * 2"))
		f.published(t, project, caller("outer", "double"))
		f.publish(t, main.ID)
		f.change(t, double.ID, function("double", "args.n * 3"))
		f.flow(t, project, `{"anything": ["<goes>", 1.50, {"a\u0000b": null}]}`)

		before, after, done := f.travel(t, project)
		require.JSONEq(t, written(t, before), written(t, after))
		require.NotEqual(t, project, done.Project.ID)
		require.Equal(t, "Shop <&> 🙂", done.Project.Name)
		require.Len(t, done.Flows, 4)
		for i, x := range done.Flows {
			require.Equal(t, i < 3, x.Published, "%v", x.Problems)
			require.Empty(t, x.Problems)
		}
		there := &fixture{Service: f.Service, Account: f.For("other"), runs: f.runs, db: f.db}
		require.Equal(t, "10", there.output(t, done.Flows[0].ID, 5), "with the function of before")
		now, err := there.Flows().Get(t.Context(), done.Flows[0].ID)
		require.NoError(t, err)
		require.Equal(t, "double@0 outer@1", pins(now))
		require.Equal(t, done.Flows[2].ID, now.Published.Functions[1].Flow)

		outer := there.publish(t, done.Flows[2].ID)
		require.Equal(t, "double@1", pins(outer))
		require.Equal(t, int64(2), outer.Published.Version)
		require.Equal(t, int64(1), there.publish(t, done.Flows[1].ID).Published.Version, "it is published as it is")
		there.publish(t, done.Flows[0].ID)
		require.Equal(t, "15", there.output(t, done.Flows[0].ID, 5))
	})
}

// TestRandomTravel exports what it imported of projects of any shape as it was.
func TestRandomTravel(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, 1))
			project := f.project(t, fmt.Sprintf("P\"%d\u2028", seed))
			var ids []string
			for step := range 25 {
				f.randomStep(t, r, project, step, &ids)
			}
			before, after, done := f.travel(t, project)
			require.Equal(t, written(t, before), written(t, after), "seed %d", seed)
			for i, x := range done.Flows {
				require.Equal(t, before.Flows[i].Published != nil, x.Published, "seed %d: %v", seed, x.Problems)
			}
		}
	})
}

// randomStep makes or changes a flow, and publishes it if that can be done.
func (f *fixture) randomStep(t *testing.T, r *rand.Rand, project string, step int, ids *[]string) {
	t.Helper()
	slug := func() string { return string(rune('a' + r.IntN(6))) }
	draft := []func() string{
		func() string { return function(slug(), fmt.Sprint("args.n + ", step)) },
		func() string { return caller(slug(), slug()) },
		func() string { return using("flow-"+slug(), slug()) },
		func() string { return plain("flow-" + slug()) },
		func() string { return fmt.Sprintf(`{"draft": %d, "text": "</script>&"}`, step) },
	}[r.IntN(5)]()
	if len(*ids) < 4 || r.IntN(3) == 0 {
		*ids = append(*ids, f.flow(t, project, draft).ID)
	}
	id := (*ids)[r.IntN(len(*ids))]
	if r.IntN(2) == 0 {
		_, err := f.Flows().Update(t.Context(), id, aiflow.FlowChange{Draft: []byte(draft)})
		require.NoError(t, err)
	}
	if _, err := f.Versions().Publish(t.Context(), id, aiflow.Publisher{}); err != nil {
		var refused *aiflow.Refused
		require.ErrorAs(t, err, &refused)
	}
}

// TestImportDrafts leaves as drafts what cannot be published, and says why.
func TestImportDrafts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		raw := func(s string) json.RawMessage { return json.RawMessage(s) }
		version := func(document string, functions ...string) *aiflow.FileVersion {
			v := &aiflow.FileVersion{Document: raw(document)}
			for _, x := range functions {
				v.Functions = append(v.Functions, raw(x))
			}
			return v
		}
		done, err := f.Projects().Import(t.Context(), aiflow.File{Format: aiflow.FileFormat, Name: "P", Flows: []aiflow.FileFlow{
			{Name: "no function", Draft: raw(`{}`), Published: version(using("one", "gone"))},
			{Name: "broken function", Draft: raw(`{}`), Published: version(using("two", "f"), function("f", "nothing.there"))},
			{Name: "unknown format", Draft: raw(`{}`), Published: version(`{"format":"trunkline-flow/99"}`)},
			{Name: "slug of a function", Draft: raw(plain("f")), Published: version(plain("f"))},
			{Name: "function", Draft: raw(`{}`), Published: version(function("f", "args.n"))},
			{Name: "good", Draft: raw(`{"new":1}`), Published: version(using("good", "f"), function("f", "args.n"), function("unused", "1"))},
			{Name: "draft", Draft: raw(plain("g"))},
		}}, aiflow.Publisher{})
		require.NoError(t, err)
		want := []string{"unknown.function", "function.broken", "", "slug.taken", "", "", ""}
		published := []bool{false, false, false, false, true, true, false}
		for i, x := range done.Flows {
			require.Equal(t, published[i], x.Published, x.Name)
			require.Equal(t, !published[i] && x.Name != "draft", len(x.Problems) > 0, "%s: %v", x.Name, x.Problems)
			if want[i] != "" {
				require.Contains(t, codes(x.Problems), want[i], x.Name)
			}
			now, err := f.Flows().Get(t.Context(), x.ID)
			require.NoError(t, err)
			require.Equal(t, x.Published, now.Published != nil)
		}
		require.JSONEq(t, `{"new":1}`, string(mustFlow(t, f, done.Flows[5].ID).Draft))
		require.Equal(t, "f@1", pins(mustFlow(t, f, done.Flows[5].ID)))
	})
}

func mustFlow(t *testing.T, f *fixture, id string) aiflow.Flow {
	t.Helper()
	out, err := f.Flows().Get(t.Context(), id)
	require.NoError(t, err)
	return out
}

// TestImportIsBounded takes the largest file there may be: each of its flows has
// a row, and one of its version, which are written twice.
func TestImportIsBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		file := aiflow.File{Format: aiflow.FileFormat, Name: "P"}
		for i := range aiflow.MaxFileFlows {
			document := json.RawMessage(plain(fmt.Sprintf("f%d", i)))
			file.Flows = append(file.Flows, aiflow.FileFlow{Name: "F", Draft: document, Published: &aiflow.FileVersion{Document: document}})
		}
		commits := testkit.ObserveCommits(t, f.db)
		_, err := f.Projects().Import(t.Context(), file, aiflow.Publisher{})
		require.NoError(t, err)
		commits.RequireBounded(t, 4*aiflow.MaxFileFlows, 4*aiflow.MaxFileFlows+2)
	})
}

// TestMalformed names every place of a file that is wrong, and keeps nothing.
func TestMalformed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		object := json.RawMessage(`{}`)
		many := make([]aiflow.FileFlow, aiflow.MaxFileFlows+1)
		large := json.RawMessage(`{"a":"` + strings.Repeat("x", 2<<20-20) + `"}`)
		for _, c := range []struct {
			file  aiflow.File
			wrong []string
		}{
			{aiflow.File{Name: "\x00"}, []string{"format", "name"}},
			{aiflow.File{Format: "trunkline-project/2", Name: "P", Description: "\xff"}, []string{"format", "description"}},
			{aiflow.File{Format: aiflow.FileFormat, Name: "P", Flows: many}, []string{"flows"}},
			{aiflow.File{Format: aiflow.FileFormat, Name: "P", Flows: []aiflow.FileFlow{
				{Name: "A", Draft: large, Published: &aiflow.FileVersion{Document: large, Functions: []json.RawMessage{large, large, large}}},
			}}, []string{"flows"}},
			{aiflow.File{Format: aiflow.FileFormat, Name: "P", Flows: []aiflow.FileFlow{
				{Name: "A", Draft: object},
				{Name: "", Draft: json.RawMessage(`[]`)},
				{Name: "B", Draft: json.RawMessage(`{"a":{"b":1,"b":2}}`), Published: &aiflow.FileVersion{Document: nil, Functions: []json.RawMessage{object, json.RawMessage(`1`)}}},
			}}, []string{"flows[1].name", "flows[1].draft", "flows[2].draft/a/b", "flows[2].published.document", "flows[2].published.functions[1]"}},
		} {
			_, err := f.Projects().Import(t.Context(), c.file, aiflow.Publisher{})
			var bad *aiflow.Malformed
			require.ErrorAs(t, err, &bad)
			var places []string
			for _, p := range bad.Problems {
				require.NotEmpty(t, p.Message)
				places = append(places, p.Field)
			}
			require.Equal(t, c.wrong, places)
		}
		ps, err := f.Projects().List(t.Context(), aiflow.List{})
		require.NoError(t, err)
		require.Empty(t, ps.Items)
	})
}

// TestTooLarge refuses to export what could not be imported.
func TestTooLarge(t *testing.T) {
	eachDatabase(t, func(t *testing.T, f *fixture) {
		project := f.project(t, "Large")
		draft := `{"a":"` + strings.Repeat("<", 2<<20-20) + `"}`
		for range 4 {
			f.flow(t, project, draft)
		}
		before, after, _ := f.travel(t, project)
		require.Equal(t, before.Flows[3].Draft, after.Flows[3].Draft)
		f.flow(t, project, draft)
		_, err := f.Projects().Export(t.Context(), project)
		require.ErrorIs(t, err, aiflow.ErrTooLarge)
	})
}
