package flows

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/author"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/billed"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

const (
	draftTimeout = 2 * time.Minute // of all attempts of a model
	draftRepairs = 3               // how often a model may correct its draft
)

// MockModels is the provider that is always there.
const MockModels = "mock"

// registerDrafts propose drafts of flows.
func (a *Flows) registerDrafts(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_DraftFromText", Method: http.MethodPost, Path: "/aiflow/flow/{flowId}/draft-from-text", Summary: "Propose a draft of a flow from a description",
		About: "A model writes the draft and corrects it up to three times while it has problems. Nothing is saved or published: to use the draft, PATCH the flow with it. " +
			"For `mock/…` models, and if the server has no model, a few rules create a small draft that asks for the values that the description mentions.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusBadGateway},
	}, auth.FlowsManage, a.draftFromText)
}

type draftRequest struct {
	ID   string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	Body struct {
		Text  string `json:"text" minLength:"1" maxLength:"20000" example:"Ask for the name and the city, then hand over to a person."`
		Model string `json:"model,omitempty" maxLength:"128" pattern:"^[a-z][a-z0-9-]*/.+$" doc:"The model to use, as provider/model. Default: the server's model." example:"openai/gpt-5"`
	}
}

type draftProposal struct {
	Draft    view.Document  `json:"draft" doc:"The proposed draft. It is not saved."`
	Problems []flow.Problem `json:"problems" nullable:"false" doc:"The problems of the proposed draft."`
	Model    string         `json:"model" doc:"The model that wrote the draft."`
	Usage    draftUsage     `json:"usage"`
}

type draftUsage struct {
	Calls        int64          `json:"calls"`
	InputTokens  int64          `json:"inputTokens"`
	OutputTokens int64          `json:"outputTokens"`
	Cost         *view.MicroUSD `json:"cost" doc:"In micro-USD; null if unknown."`
}

func (a *Flows) draftFromText(ctx context.Context, c httpapi.Call, in *draftRequest) (draftProposal, error) {
	f, err := a.Flows.For(c.Account).Flows().Get(ctx, in.ID)
	if err != nil {
		return draftProposal{}, err
	}
	ref := in.Body.Model
	if ref == "" {
		if ref, err = a.FirstModel(ctx); err != nil {
			return draftProposal{}, httpapi.Invalid("body.model", "is required: the server has no default model for drafts")
		}
	}
	provider, name, _ := strings.Cut(ref, "/")
	var kept struct{ Slug string }
	_ = json.Unmarshal(f.Draft, &kept) // a draft may be anything
	if kept.Slug == "" {
		kept.Slug = flow.SlugOf(f.Name, "flow")
	}
	request := author.Request{
		Text: in.Body.Text, Slug: kept.Slug, Name: f.Name, Model: name, Repair: draftRepairs,
		Check: func(ctx context.Context, draft json.RawMessage) ([]flow.Problem, error) {
			return a.Flows.For(c.Account).Flows().Check(ctx, f.ID, draft)
		},
	}
	if provider == MockModels {
		draft := author.Sketch(request)
		problems, err := request.Check(ctx, draft)
		return draftProposal{Draft: view.Document(draft), Problems: problems, Model: ref, Usage: draftUsage{Cost: new(view.MicroUSD)}}, err
	}
	m, _, err := a.Models.Find(ref)
	if err != nil {
		return draftProposal{}, httpapi.Invalid("body.model", "must be a model that the server has: GET /aiflow/model lists them")
	}
	var used sum
	m = llm.Retry(&billed.Model{Ledger: a.Usage, Model: m, Used: used.add, Call: usage.Call{
		Account: c.Account, Feature: "draft", Project: f.Project, Flow: f.ID, User: c.User, Provider: provider, Model: name,
	}}, nil)
	ctx, cancel := context.WithTimeout(ctx, draftTimeout)
	defer cancel()
	p, err := author.Propose(ctx, m, a.Runs.Types(), request)
	if errors.Is(err, author.ErrNoFlow) {
		return draftProposal{}, httpapi.NewProblem(httpapi.CodeProviderError, "the model proposed no flow: describe it in more detail, or try again")
	}
	if err != nil {
		return draftProposal{}, view.ModelError(err)
	}
	return draftProposal{Draft: view.Document(p.Draft), Problems: p.Problems, Model: ref, Usage: used.view()}, nil
}

// sum adds up what calls take.
type sum struct {
	calls, input, output, nano int64
	unpriced                   bool
}

func (u *sum) add(duration llm.Usage, nano int64, known bool) {
	u.calls++
	u.input += duration.Input
	u.output += duration.Output
	u.nano += nano
	u.unpriced = u.unpriced || !known
}

func (u *sum) view() draftUsage {
	v := draftUsage{Calls: u.calls, InputTokens: u.input, OutputTokens: u.output}
	if !u.unpriced {
		v.Cost = new(view.MicroUSD(u.nano))
	}
	return v
}
