package modelusage

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// budgetRoutes bound what calls of models may take.
func (a *API) budgetRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Usage_Budgets", On: httpapi.OfAccount, Method: http.MethodGet, Path: "/aiusage/budget", Summary: "Show the budgets for language models and what is spent",
	}, auth.UsageRead, a.showBudgets)
	httpapi.Register(api, httpapi.Operation{
		ID: "Usage_SetBudgets", Method: http.MethodPut, Path: "/aiusage/budget", Summary: "Set the budgets for language models",
		About: "Replaces all budgets; earlier spending counts. A call must fit every budget that applies to it with its maximum cost and tokens. Otherwise it is not made, " +
			"and its node continues with its fallback or its output error. A budget of `project`, `flow` or `chat` without an id applies to each of them separately. A " +
			"model without a known price counts only against `tokens`, or is refused with `unpriced: refuse`.",
		Errors: []int{http.StatusNotFound},
	}, auth.UsersManage, a.setBudgets)
}

type budgetState struct {
	view.BudgetItem
	SpentCost   *view.MicroUSD      `json:"spentCost" doc:"Spent cost, including the reservations of calls in progress; null for a budget that applies to each project, flow or chat separately."`
	SpentTokens *int64              `json:"spentTokens" doc:"Spent tokens, counted like spentCost."`
	Until       *messaging.UnixTime `json:"until" doc:"Time when the period starts again; null: never."`
}

type budgets struct {
	Items []budgetState `json:"items"`
}

func (a *API) showBudgets(ctx context.Context, c httpapi.Call, _ *struct{}) (budgets, error) {
	bs, err := a.Usage.For(c.Account).Budgets(ctx)
	v := budgets{make([]budgetState, len(bs))}
	for i, b := range bs {
		v.Items[i] = budgetState{viewBudget(b.Budget), (*view.MicroUSD)(b.Spent), b.SpentTokens, view.TimeOrNull(b.Until)}
	}
	return v, err
}

func viewBudget(b usage.Budget) view.BudgetItem {
	v := view.BudgetItem{
		Scope: b.Scope, Reference: provider.ReferenceID(b.Reference), Period: b.Period, Timezone: b.Timezone, Cost: (*view.MicroUSD)(b.Cost), Tokens: b.Tokens, Unpriced: "allow",
	}
	if b.RefuseUnpriced {
		v.Unpriced = "refuse"
	}
	switch b.Scope {
	case usage.ScopeProject:
		v.ProjectID = b.ID
	case usage.ScopeFlow:
		v.FlowID = b.ID
	case usage.ScopeChat:
		v.ChatID = b.ID
	}
	return v
}

type setBudgets struct {
	Body struct {
		Items []view.BudgetItem `json:"items" maxItems:"200" nullable:"false"`
	}
}

func (a *API) setBudgets(ctx context.Context, c httpapi.Call, in *setBudgets) (budgets, error) {
	bs := make([]usage.Budget, len(in.Body.Items))
	for i := range in.Body.Items {
		var err error
		if bs[i], err = budgetOf(&in.Body.Items[i], fmt.Sprintf("body.items[%d].", i)); err != nil {
			return budgets{}, err
		}
	}
	if err := usage.CheckBudgets(bs); err != nil {
		return budgets{}, err
	}
	for i := range bs {
		if err := a.findBudget(ctx, c.Account, &bs[i], fmt.Sprintf("body.items[%d].", i)); err != nil {
			return budgets{}, err
		}
	}
	if err := a.Usage.For(c.Account).SetBudgets(ctx, bs); err != nil {
		return budgets{}, err
	}
	return a.showBudgets(ctx, c, nil)
}

// budgetOf refuses an id of another scope.
func budgetOf(v *view.BudgetItem, at string) (usage.Budget, error) {
	b := usage.Budget{
		Scope: v.Scope, Reference: int64(v.Reference), Period: v.Period, Timezone: v.Timezone, Cost: (*int64)(v.Cost), Tokens: v.Tokens, RefuseUnpriced: v.Unpriced == "refuse",
	}
	for _, id := range []struct {
		scope       usage.Scope
		name, value string
	}{{usage.ScopeProject, "projectId", v.ProjectID}, {usage.ScopeFlow, "flowId", v.FlowID}, {usage.ScopeChat, "chatId", v.ChatID}} {
		switch {
		case id.scope == v.Scope:
			b.ID = id.value
		case id.value != "":
			return b, httpapi.Invalid(at+id.name, "is not allowed for this scope")
		}
	}
	return b, nil
}

// findBudget makes sure that what a budget is for is there. A chat is named in
// one way from then on.
func (a *API) findBudget(ctx context.Context, account string, b *usage.Budget, at string) (err error) {
	if b.ID == "" {
		return nil
	}
	switch b.Scope {
	case usage.ScopeProject:
		if _, err = a.Flows.For(account).Projects().Get(ctx, b.ID); errors.Is(err, aiflow.ErrNotFound) {
			return httpapi.NotFoundAt(at+"projectId", "must be the id of a project of this account")
		}
	case usage.ScopeFlow:
		if _, err = a.Flows.For(account).Flows().Get(ctx, b.ID); errors.Is(err, aiflow.ErrNotFound) {
			return httpapi.NotFoundAt(at+"flowId", "must be the id of a flow of this account")
		}
	case usage.ScopeChat:
		if _, b.ID, err = a.Messaging.For(account).ChatKey(ctx, provider.ReferenceID(b.Reference), b.ID); errors.Is(err, messaging.ErrNotFound) {
			return httpapi.NotFoundAt(at+"reference", "must be the id of a reference of this account")
		}
		return httpapi.Relocate(err, "body.", at)
	}
	return err
}
