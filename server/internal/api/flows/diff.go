package flows

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// registerDiff show what changes of a flow change, and what changes of a
// function concern.
func (a *Flows) registerDiff(api *httpapi.API) {
	missing := []int{http.StatusNotFound}
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Diff", Method: http.MethodGet, Path: "/aiflow/flow/{flowId}/diff", Summary: "Compare two versions of a flow",
		About: "Without parameters, it shows what publishing the draft would change. Differences without a meaning are left out: the order of members, the notation " +
			"of numbers, and `ui`. Lists of the same length are compared item by item, other lists as a whole.",
		Errors: missing,
	}, auth.FlowsManage, a.diffFlow)
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_UsedBy", Method: http.MethodGet, Path: "/aiflow/flow/{flowId}/usedby", Summary: "List the flows and functions that use a function, oldest first",
		About: "Lists published versions that contain it, directly or through another function, and drafts that call it.", Errors: missing,
	}, auth.FlowsManage, a.listUses)
}

type flowVersionPair struct {
	ID   string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	From int64  `query:"from" minimum:"0" doc:"The version to compare from. Default, and 0: the published version."`
	To   int64  `query:"to" minimum:"0" doc:"The version to compare to. Default, and 0: the draft."`
}

// flowDiff is how two versions of a flow differ.
type flowDiff struct {
	From      int64            `json:"from" doc:"0 if no version is published."`
	To        int64            `json:"to" doc:"0 is the draft."`
	Nodes     []nodeDiff       `json:"nodes" nullable:"false" doc:"Changed nodes, sorted by id."`
	Edges     []edgeDiff       `json:"edges" nullable:"false" doc:"Changed connections, sorted by node and output. Those of added and removed nodes are included."`
	Document  []documentChange `json:"document" nullable:"false" doc:"All other changes, sorted by path: settings, variables, start and others."`
	Functions []functionDiff   `json:"functions" nullable:"false" doc:"Functions whose version changes, sorted by slug. Empty for a draft with errors."`
}

type nodeDiff struct {
	ID      string           `json:"id"`
	Type    *string          `json:"type"`
	Kind    string           `json:"kind" enum:"added,removed,changed"`
	Changes []documentChange `json:"changes" nullable:"false"`
}

type documentChange struct {
	Path string          `json:"path" doc:"JSON pointer into the document." example:"/nodes/hello/config/text"`
	Kind string          `json:"kind" enum:"added,removed,changed"`
	From json.RawMessage `json:"from" doc:"Any JSON value; null if it was absent."`
	To   json.RawMessage `json:"to" doc:"Any JSON value; null if it is absent."`
}

type edgeDiff struct {
	Node   string  `json:"node"`
	Output string  `json:"output"`
	From   *string `json:"from" doc:"Id of a node; null if the output was not connected."`
	To     *string `json:"to" doc:"Id of a node; null if the output is not connected."`
}

type functionDiff struct {
	Slug string `json:"slug"`
	From *int64 `json:"from" doc:"Version of the function; 0: a version from before the project was imported; null: none."`
	To   *int64 `json:"to" doc:"Version of the function; 0: a version from before the project was imported; null: none."`
}

func (a *Flows) diffFlow(ctx context.Context, c httpapi.Call, in *flowVersionPair) (flowDiff, error) {
	d, err := a.Flows.For(c.Account).Versions().Diff(ctx, in.ID, in.From, in.To)
	if err != nil {
		return flowDiff{}, httpapi.InQuery(err)
	}
	out := flowDiff{
		From: d.From, To: d.To, Nodes: make([]nodeDiff, len(d.Nodes)), Edges: make([]edgeDiff, len(d.Edges)),
		Document: viewChanges(d.Rest), Functions: make([]functionDiff, len(d.Functions)),
	}
	for i, n := range d.Nodes {
		out.Nodes[i] = nodeDiff{n.ID, view.OrNull(n.Type), n.Kind, viewChanges(n.Changes)}
	}
	for i, e := range d.Edges {
		out.Edges[i] = edgeDiff{e.Node, e.Output, view.OrNull(e.From), view.OrNull(e.To)}
	}
	for i, f := range d.Functions {
		out.Functions[i] = functionDiff(f)
	}
	return out, nil
}

func viewChanges(changes []aiflow.Change) []documentChange {
	out := make([]documentChange, len(changes))
	for i, c := range changes {
		out[i] = documentChange{c.Path, c.Kind, orJSONNull(c.From), orJSONNull(c.To)}
	}
	return out
}

func orJSONNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// functionUse is a flow or a function that uses a function.
type functionUse struct {
	FlowID    string `json:"flowId"`
	Name      string `json:"name"`
	Published *int64 `json:"published" doc:"Version of the function that the published version contains; 0: a version from before the project was imported; null: none."`
	Draft     bool   `json:"draft" doc:"Whether the draft calls the function."`
}

func (a *Flows) listUses(ctx context.Context, c httpapi.Call, in *flowVersions) (view.Page[functionUse], error) {
	p, err := a.Flows.For(c.Account).Flows().UsedBy(ctx, in.ID, in.List())
	return view.PageOf(p, viewUse), httpapi.InQuery(err)
}
