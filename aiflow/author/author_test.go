package author_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/author"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// check holds a draft against the real rules.
func check(_ context.Context, draft json.RawMessage) ([]flow.Problem, error) {
	doc, problems := flow.Decode(draft)
	if doc != nil {
		_, problems = node.NewTypes().Compile(doc, &flow.Environment{})
	}
	return problems, nil
}

func request(text string) author.Request {
	return author.Request{Text: text, Slug: "parcels", Name: "Parcels", Model: "m", Check: check, Repair: 2}
}

const (
	valid = `{"kind": "flow", "start": "s", "slug": "other", "nodes": {
		"s": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "m"}},
		"m": {"type": "message", "config": {"text": "Hello"}}}}`
	wrong = `{"kind": "flow", "start": "s", "nodes": {
		"s": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "x"}},
		"m": {"type": "massage", "config": {"text": "Hello"}}}}`
)

func errorsIn(problems []flow.Problem) (n int) {
	for _, p := range problems {
		if p.Severity == flow.SeverityError {
			n++
		}
	}
	return n
}

func TestPropose(t *testing.T) {
	t.Parallel()
	m := llmtest.NewScript(llmtest.Say("Here it is:\n```json\n" + valid + "\n```"))
	p, err := author.Propose(t.Context(), m, node.NewTypes(), request("Say hello"))
	require.NoError(t, err)
	require.Zero(t, errorsIn(p.Problems))
	var draft map[string]any
	require.NoError(t, json.Unmarshal(p.Draft, &draft))
	require.Equal(t, "parcels", draft["slug"], "it is the flow's, whatever the model says")
	require.Contains(t, m.Requests()[0].Messages[0].Text(), "<description>\nSay hello\n</description>")
}

func TestProposeIsRepaired(t *testing.T) {
	t.Parallel()
	m := llmtest.NewScript(llmtest.Say(wrong), llmtest.Say("no"), llmtest.Say(valid))
	p, err := author.Propose(t.Context(), m, node.NewTypes(), request("Say hello"))
	require.NoError(t, err)
	require.Zero(t, errorsIn(p.Problems))
	require.NoError(t, m.Done())
	prompt := m.Requests()[1].Messages[2].Text()
	require.Contains(t, prompt, "/nodes/s/next/out")
	require.Contains(t, prompt, "/nodes/m/type")
}

func TestProposeNeverFits(t *testing.T) {
	t.Parallel()
	m := llmtest.NewScript(llmtest.Say(wrong), llmtest.Say(wrong), llmtest.Say(wrong))
	p, err := author.Propose(t.Context(), m, node.NewTypes(), request("Say hello"))
	require.NoError(t, err)
	require.Positive(t, errorsIn(p.Problems), "the last one is shown with what is wrong")
	require.NoError(t, m.Done())

	m = llmtest.NewScript(llmtest.Say("I cannot"), llmtest.Say("[]"), llmtest.Say("really"))
	_, err = author.Propose(t.Context(), m, node.NewTypes(), request("Say hello"))
	require.ErrorIs(t, err, author.ErrNoFlow)

	m = llmtest.NewScript(llmtest.Fail(&llm.Error{Code: llm.CodeForbidden}))
	_, err = author.Propose(t.Context(), m, node.NewTypes(), request("Say hello"))
	var failed *llm.Error
	require.ErrorAs(t, err, &failed)

	w := request("Say hello")
	w.Check = func(context.Context, json.RawMessage) ([]flow.Problem, error) { return nil, errors.ErrUnsupported }
	_, err = author.Propose(t.Context(), llmtest.NewScript(llmtest.Say(valid)), node.NewTypes(), w)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

// The guide tells of every node type that a flow may have, and its example is
// right.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide := author.Guide(node.NewTypes())
	for _, n := range node.NewTypes().Describe().Nodes {
		require.Contains(t, guide, "\n## "+n.Name+": "+n.Text)
	}
	require.Contains(t, guide, "- saveTo variable")
	require.Less(t, len(guide), 48<<10, "it is sent with each request")
	_, rest, _ := strings.Cut(guide, "```json\n")
	example, _, _ := strings.Cut(rest, "\n```")
	m := llmtest.NewScript(llmtest.Say(example))
	p, err := author.Propose(t.Context(), m, node.NewTypes(), request("x"))
	require.NoError(t, err)
	require.Empty(t, p.Problems)
}

func TestSketch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		asks []string
	}{
		{"Greet the customer", nil},
		{"Ask for the name, their city and the number of guests. Then hand over to a person.", []string{"name", "city", "number of guests"}},
		{"asks the contact for their e-mail; ask about {{ x", []string{"e-mail", "x"}},
		{"Ask for 1, 2 and 1", []string{"1", "2", "1"}},
	} {
		draft := author.Sketch(request(c.text))
		problems, err := check(t.Context(), draft)
		require.NoError(t, err)
		require.Zero(t, errorsIn(problems), "%s: %v", draft, problems)
		for _, thing := range c.asks {
			require.Contains(t, string(draft), "Please tell us: "+thing)
		}
		require.Equal(t, strings.Contains(c.text, "person"), strings.Contains(string(draft), `"handoff"`))
	}
}

func FuzzSketch(f *testing.F) {
	for _, text := range []string{"", "ask", "ask for ,,,", "Ask for the the", "ask \xff", "ask for {{ vars.x }}", "ask for a, a, a and a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		problems, err := check(t.Context(), author.Sketch(request(text)))
		require.NoError(t, err)
		require.Zero(t, errorsIn(problems), "%v", problems)
	})
}
