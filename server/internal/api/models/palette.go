package models

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

func (a *API) registerPalette(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Aiflow_Palette", Method: http.MethodGet, Path: "/aiflow/palette", Summary: "The node types that flows and bots are made of",
		About: "What an editor needs to know: for each type its group, its outputs, the engines that have it, and the JSON Schema of its config, " +
			"with `x-kind` where a text is more than that (template, expression, data, duration, bytes, schema).",
	}, httpapi.AnyUser, a.palette)
}

func (a *API) palette(context.Context, httpapi.Call, *struct{}) (flow.Palette, error) {
	return a.Runs.Types().Describe(), nil
}
