package author

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
)

// Request is what a flow shall do, in the words of a user.
type Request struct {
	Text  string // in plain words
	Slug  string // of the flow
	Name  string
	Model string // the provider's name of the model
	// Check says what is wrong with a draft. nil: what can be told without
	// knowing what it refers to.
	Check func(ctx context.Context, draft json.RawMessage) ([]flow.Problem, error)
	// Repair is how often the model may correct itself.
	Repair int
}

// Proposal is a draft for a person to review.
type Proposal struct {
	Draft    json.RawMessage
	Problems []flow.Problem // what is wrong with it; errors are only there after all tries
}

// ErrNoFlow reports that a model answered nothing that is a flow.
var ErrNoFlow = errors.New("author: the model proposed no flow")

// maxTokens bounds an answer: a flow of some thirty nodes.
const maxTokens = 8192

// anything is a schema of what the model answers. The real rules are checked
// afterwards: as a schema they are longer than providers take.
var anything = func() *structured.Schema {
	s, err := structured.Compile(json.RawMessage(`{"minProperties": 1}`))
	if err != nil {
		panic(err)
	}
	return s
}()

// Propose has a model write a draft.
func Propose(ctx context.Context, m llm.Model, types *flow.Types, w Request) (*Proposal, error) {
	if w.Check == nil {
		w.Check = func(_ context.Context, draft json.RawMessage) ([]flow.Problem, error) {
			return compile(types, draft), nil
		}
	}
	var last *Proposal
	exact := 0.0
	r := &llm.Request{
		Model: w.Model, System: Guide(types), Temperature: &exact, MaxTokens: maxTokens,
		Messages: []llm.Message{llm.User(fmt.Sprintf("Write the flow with the slug %q and the name %q.\n<description>\n%s\n</description>", w.Slug, w.Name, w.Text))},
	}
	_, err := structured.Generate(ctx, m, r, structured.Wanted{Schema: anything, Repair: w.Repair, Check: func(v any) error {
		draft, is := v.(map[string]any)
		if !is {
			return &structured.Misfit{Problems: []string{"it is not a JSON object"}}
		}
		draft["format"], draft["engine"], draft["slug"], draft["name"] = flow.Format, flow.EngineFlow, w.Slug, w.Name
		if draft["kind"] == nil {
			draft["kind"] = flow.KindFlow
		}
		raw, err := json.Marshal(draft)
		if err != nil {
			return fmt.Errorf("writing a draft: %w", err)
		}
		problems, err := w.Check(ctx, raw)
		if err != nil {
			return fmt.Errorf("checking a draft: %w", err)
		}
		last = &Proposal{Draft: raw, Problems: problems}
		return misfit(problems)
	}})
	var bad *structured.Misfit
	switch {
	case err != nil && !errors.As(err, &bad):
		return nil, err
	case last == nil:
		return nil, ErrNoFlow
	}
	return last, nil
}

// compile says what is wrong with a draft by itself.
func compile(types *flow.Types, draft json.RawMessage) []flow.Problem {
	doc, problems := flow.Decode(draft)
	if doc != nil {
		_, problems = types.Compile(doc, nil)
	}
	return problems
}

// misfit tells the model what is wrong; warnings may stay.
func misfit(problems []flow.Problem) error {
	var bad []string
	for _, p := range problems {
		if p.Severity != flow.SeverityError {
			continue
		}
		line := p.Path + ": " + p.Message
		if p.Hint != "" {
			line += " (" + p.Hint + ")"
		}
		bad = append(bad, line)
	}
	if len(bad) == 0 {
		return nil
	}
	return &structured.Misfit{Problems: bad[:min(len(bad), maxProblems)]}
}

// maxProblems is how many problems the model is told of at a time.
const maxProblems = 20
