package server

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

func (s *Server) paletteRoutes(a *httpapi.API) {
	httpapi.Register(a, httpapi.Operation{
		ID: "Aiflow_Palette", Method: http.MethodGet, Path: "/aiflow/palette", Summary: "The node types that flows and bots are made of",
		About: "What an editor needs to know: for each type its group, its outputs, the engines that have it, and the JSON Schema of its config, " +
			"with `x-kind` where a text is more than that (template, expression, data, duration, bytes, schema).",
	}, httpapi.AnyUser, s.palette)
}

func (s *Server) palette(context.Context, httpapi.Call, *struct{}) (flow.Palette, error) {
	return s.Runs.Types().Describe(), nil
}
