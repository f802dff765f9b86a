package flows

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// registerRename give flows and functions other slugs.
func (a *Flows) registerRename(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Rename", Method: http.MethodPost, Path: "/aiflow/flow/{flowId}/rename", Summary: "Change the slug of a flow or a function",
		About: "Changes its draft and, in the same transaction, all drafts of the project that call it or jump to it. Published versions do not change: `published` lists " +
			"those with the old slug. Versions that call the function keep working, because they contain it. Versions that jump to the flow must be " +
			"published again.",
		Errors: []int{http.StatusNotFound},
	}, auth.FlowsManage, a.renameFlow)
}

type flowRename struct {
	ID   string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	Body struct {
		Slug string `json:"slug" pattern:"^[a-z0-9][a-z0-9_-]{0,63}$" example:"vat"`
	}
}

// renamedFlow is a flow with its new slug, and who knew it by the old one.
type renamedFlow struct {
	Flow      flowView      `json:"flow"`
	Drafts    []renamedIn   `json:"drafts" nullable:"false" doc:"Other drafts that were changed."`
	Published []functionUse `json:"published" nullable:"false" doc:"Published versions that still use the old slug."`
}

type renamedIn struct {
	FlowID   string `json:"flowId"`
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
}

func (a *Flows) renameFlow(ctx context.Context, c httpapi.Call, in *flowRename) (renamedFlow, error) {
	done, err := a.Flows.For(c.Account).Flows().Rename(ctx, in.ID, in.Body.Slug)
	if err != nil {
		return renamedFlow{}, err
	}
	out := renamedFlow{Flow: viewFlow(done.Flow), Drafts: []renamedIn{}, Published: []functionUse{}}
	for _, f := range done.Drafts {
		out.Drafts = append(out.Drafts, renamedIn{f.ID, f.Name, f.Revision})
	}
	for _, u := range done.Published {
		out.Published = append(out.Published, viewUse(u))
	}
	return out, nil
}

func viewUse(u aiflow.Use) functionUse { return functionUse{u.Flow, u.Name, u.Published, u.Draft} }
