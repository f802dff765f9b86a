package references

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// registerTriggers adds the operation that says what listens on a reference.
func (a *API) registerTriggers(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Messaging_Triggers", On: httpapi.At("path.id"), Method: http.MethodGet, Path: "/reference/{id}/triggers",
		Summary: "List the bots and flows of a reference, in the order in which they are asked",
		About: "Lists published bots of the reference and published flows that are bound to it: the higher `priority` first, then the narrower " +
			"rule, then the older one. Inactive ones are last.",
		Errors: []int{http.StatusNotFound},
	}, auth.ReferencesRead, a.listTriggers)
}

// listenerView is a bot or a flow that listens on a reference.
type listenerView struct {
	Engine   string   `json:"engine" enum:"botengine,aiflow"`
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Trigger  string   `json:"trigger" doc:"The first of triggers. manual if no event of the reference starts it." example:"keyword"`
	Triggers []string `json:"triggers" nullable:"false"`
	Priority int      `json:"priority"`
	Enabled  bool     `json:"enabled"`
	Version  int64    `json:"version" doc:"The published version."`
}

type listenerList struct {
	Items []listenerView `json:"items" nullable:"false"`
	Next  *string        `json:"next" doc:"Always null: the list has one page."`
}

func viewListener(l runtime.Listener) listenerView {
	v := listenerView{
		Engine: l.Engine, ID: l.Owner, Name: l.Name, Trigger: "manual", Triggers: append([]string{}, l.Trigger.Kinds()...),
		Priority: l.Priority, Enabled: l.Enabled, Version: l.Version,
	}
	if len(v.Triggers) > 0 {
		v.Trigger = v.Triggers[0]
	}
	return v
}

func (a *API) listTriggers(ctx context.Context, c httpapi.Call, in *referenceID) (listenerList, error) {
	if _, err := a.Messaging.For(c.Account).References().Get(ctx, in.ID); err != nil {
		return listenerList{}, err
	}
	ls, err := a.Runs.For(c.Account).Listeners(ctx, int64(in.ID))
	out := listenerList{Items: make([]listenerView, len(ls))}
	for i, l := range ls {
		out.Items[i] = viewListener(l)
	}
	return out, err
}
