package models

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// API shows what flows and bots may be made of.
type API struct {
	Models *llm.Models
	Runs   *runtime.Runtime
}

// Register adds the operations of the resource.
func (a *API) Register(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Models", Method: http.MethodGet, Path: "/aiflow/model", Summary: "List the language models that flows can use",
		About: "Asks each provider for its models. A provider that fails is listed with an error; flows can still use its models.",
	}, auth.FlowsManage, a.listModels)
	a.registerPalette(api)
}

type modelView struct {
	ID       string `json:"id" doc:"Name of the model in flows: provider/model." example:"mock/assistant"`
	Provider string `json:"provider"`
	Name     string `json:"name" doc:"The provider's name of the model."`
	Title    string `json:"title" doc:"Display name; empty if the provider has none."`
}

type modelProviderView struct {
	Name  string        `json:"name"`
	Error *modelProblem `json:"error" doc:"The reason why the models could not be listed; null if they were listed."`
}

type modelProblem struct {
	Code    string `json:"code" example:"llm.unavailable"`
	Message string `json:"message"`
}

type modelsView struct {
	Items     []modelView         `json:"items" nullable:"false"`
	Providers []modelProviderView `json:"providers" nullable:"false"`
}

// askProviders is how long all providers together have to list their models.
const askProviders = 10 * time.Second

func (a *API) listModels(ctx context.Context, _ httpapi.Call, _ *struct{}) (modelsView, error) {
	ctx, cancel := context.WithTimeout(ctx, askProviders)
	defer cancel()
	out := modelsView{Items: []modelView{}, Providers: []modelProviderView{}}
	for _, o := range a.Models.List(ctx) {
		out.Providers = append(out.Providers, modelProviderView{o.Provider, viewModelError(o.Err)})
		for _, m := range o.Items {
			out.Items = append(out.Items, modelView{o.Provider + "/" + m.Name, o.Provider, m.Name, m.Title})
		}
	}
	return out, nil
}

// viewModelError shows of an error what a provider chose to say.
func viewModelError(err error) *modelProblem {
	var e *llm.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return &modelProblem{string(e.Code), e.Message}
	case errors.Is(err, context.DeadlineExceeded):
		return &modelProblem{string(llm.CodeTimeout), "the provider did not answer in time"}
	}
	return &modelProblem{string(llm.CodeUnavailable), "the provider cannot be asked"}
}
