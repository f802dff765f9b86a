package models

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

func (a *API) registerPalette(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Palette", Method: http.MethodGet, Path: "/aiflow/palette", Summary: "List the node types of flows and bots",
		About: "Describes for an editor the group, outputs and engines of each type, and the JSON Schema of its configuration. " +
			"`x-kind` marks texts with a special form (template, expression, data, duration, bytes, schema).",
	}, httpapi.AnyUser, a.palette)
}

func (a *API) palette(context.Context, httpapi.Call, *struct{}) (flow.Palette, error) {
	return a.Runs.Types().Describe(), nil
}
