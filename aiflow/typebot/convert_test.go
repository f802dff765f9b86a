package typebot_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
	"github.com/trunklinehq/trunkline/aiflow/typebot"
)

var update = flag.Bool("update", false, "write the golden files")

// read is an export of testdata.
func read(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	require.NoError(t, err)
	return raw
}

// compile makes a draft ready to run. None of its problems may be an error.
func compile(t testing.TB, draft json.RawMessage) (*flow.Document, *flow.Program) {
	t.Helper()
	doc, problems := flow.Decode(draft)
	require.NotNil(t, doc, problems)
	program, problems := node.NewTypes().Compile(doc, &flow.Environment{Engine: flow.EngineFlow, Functions: map[string]*flow.Document{}})
	require.NotNil(t, program, problems)
	return doc, program
}

// TestConvert compares what becomes of exports with the goldens: drafts that
// can be published, and what they lack.
func TestConvert(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"support", "logic", "version5"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := typebot.Convert(read(t, name))
			require.NoError(t, err)
			compile(t, f.Draft)
			var got bytes.Buffer
			e := json.NewEncoder(&got)
			e.SetEscapeHTML(false)
			e.SetIndent("", " ")
			require.NoError(t, e.Encode(map[string]any{"name": f.Name, "draft": f.Draft, "problems": f.Problems}))
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got.String())
		})
	}
}

// TestConverse has a conversation with a flow that was a typebot.
func TestConverse(t *testing.T) {
	t.Parallel()
	f, err := typebot.Convert(read(t, "support"))
	require.NoError(t, err)
	doc, program := compile(t, f.Draft)
	require.Empty(t, f.Problems)
	rank, takes := program.Trigger().Match(flow.Inbound{Text: "I need help, please"})
	require.True(t, takes)
	require.Equal(t, flow.RankKeyword, rank)

	tests, err := simulate.ParseTests([]byte(`[{"name": "a bug", "steps": [
		{"expect": "Hey *friend*"}, {"expect": {"contains": "How can I help you?"}},
		{"send": "There is a bug 🐛"}, {"expect": "Can you describe it, ?"},
		{"send": "It is slow"}, {"expect": "Where can I reach you?"},
		{"send": "nowhere"}, {"expect": "That is no address."},
		{"send": "ana@example.org"}, {"expect": "I write to ana@example.org about \"It is slow\" (There is a bug 🐛)."},
		{"expect": {"ended": "completed"}}]},
		{"name": "a question", "steps": [{"expect": {"rest": true}}, {"send": "question"}, {"expect": {"did": "send", "node": "question_message"}},
		{"expect": "Read the docs https://example.com/docs\n- first\n- second"}, {"expect": "Where can I reach you?"}]},
		{"name": "silence", "steps": [{"expect": {"rest": true}}, {"advance": "PT2H"}, {"expect": {"ended": "completed"}}]}]`))
	require.NoError(t, err)
	report, err := simulate.Run(doc, program, tests)
	require.NoError(t, err)
	for _, test := range report.Tests {
		require.Nil(t, test.Failure, test.Name)
	}
}

// TestNoExport refuses what is none.
func TestNoExport(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{``, `[]`, `{}`, `null`, `{"version":"6","groups":[]}`, `{"format":"trunkline-project/1","flows":[]}`, "{\"version\":\"6\",\"groups\":[],\"edges\":[],\"name\":\"\xff\"}"} {
		require.False(t, typebot.Is([]byte(doc)), doc)
		_, err := typebot.Convert([]byte(doc))
		require.ErrorIs(t, err, typebot.ErrFormat, doc)
	}
	require.True(t, typebot.Is(read(t, "support")))
	require.True(t, typebot.Is([]byte(`{"typebot":`+string(read(t, "support"))+`}`)))
}

// TestLargeExport takes no time, also of an export whose blocks all have one
// name and lead to each other, and refuses one that no flow can hold.
func TestLargeExport(t *testing.T) {
	t.Parallel()
	export := func(n int) []byte {
		block := `{"id":"g","title":"a","blocks":[{"id":"b","type":"Jump","options":{"groupId":"g"}},{"id":"c","type":"Code","outgoingEdgeId":"e"}]}`
		return []byte(`{"version":"6","groups":[` + strings.Repeat(block+",", n-1) + block + `],"edges":[{"id":"e","from":{"blockId":"c"},"to":{"groupId":"g"}}]}`)
	}
	f, err := typebot.Convert(export(typebot.MaxBlocks / 2))
	require.NoError(t, err)
	require.Len(t, f.Problems, typebot.MaxBlocks/2)
	unknown := `{"version":"6","groups":[{"blocks":[{"type":"text","content":{"plainText":"` + strings.Repeat("{{a}}", 100_000) + `"}}]}],"edges":[]}`
	f, err = typebot.Convert([]byte(unknown))
	require.NoError(t, err)
	require.Len(t, f.Problems, typebot.MaxProblems, "nobody reads more")
	_, err = typebot.Convert(export(typebot.MaxBlocks))
	require.ErrorIs(t, err, typebot.ErrTooLarge)
}

// FuzzConvert makes of whatever is an export a draft that can be stored.
func FuzzConvert(f *testing.F) {
	for _, name := range []string{"support", "logic", "version5"} {
		f.Add(read(f, name))
	}
	f.Add([]byte(`{"version":6,"groups":[{"blocks":[{"type":"AB test","items":[{"path":"a"}]},{"type":"Jump","options":{"groupId":""}}]}],"edges":[{}]}`))
	f.Fuzz(func(t *testing.T, export []byte) {
		made, err := typebot.Convert(export)
		if err != nil {
			require.True(t, errors.Is(err, typebot.ErrFormat) || errors.Is(err, typebot.ErrTooLarge), err)
			return
		}
		require.NoError(t, flow.CheckDraft(made.Draft))
		require.NotNil(t, made.Problems)
		if doc, _ := flow.Decode(made.Draft); doc != nil {
			node.NewTypes().Compile(doc, &flow.Environment{Engine: flow.EngineFlow, Functions: map[string]*flow.Document{}})
		}
	})
}
