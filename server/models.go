package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// mockModels is the provider that is always there.
const mockModels = "mock"

// openModels collects the language models: those of the configuration, and
// those that need no key.
func (c Config) openModels() (*llm.Models, error) {
	all := map[string]llm.Model{mockModels: mock.New()}
	maps.Copy(all, c.Models)
	m, err := llm.NewModels(all)
	if err != nil {
		return nil, fmt.Errorf("server: Config.Models: %w", err)
	}
	return m, nil
}

// modelRoutes are the language models that flows may name.
func (s *Server) modelRoutes(a *httpapi.API) {
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Models", Method: http.MethodGet, Path: "/aiflow/model", Summary: "List the language models that flows may name",
		About: "Each provider is asked which it has. One that cannot say is shown with an error; flows may name its models all the same.",
	}, auth.FlowsManage, s.listModels)
}

type modelView struct {
	ID       string `json:"id" doc:"As flows name it." example:"mock/assistant"`
	Provider string `json:"provider"`
	Name     string `json:"name" doc:"As its provider names it."`
	Title    string `json:"title" doc:"As people call it; empty: nothing else."`
}

type modelProviderView struct {
	Name  string        `json:"name"`
	Error *modelProblem `json:"error" doc:"Why its models are not listed; null: they are."`
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

func (s *Server) listModels(ctx context.Context, _ httpapi.Call, _ *struct{}) (modelsView, error) {
	ctx, cancel := context.WithTimeout(ctx, askProviders)
	defer cancel()
	out := modelsView{Items: []modelView{}, Providers: []modelProviderView{}}
	for _, o := range s.models.List(ctx) {
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
