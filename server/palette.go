package server

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

func (s *Server) paletteRoutes(a *api) {
	register(a, operation{
		id: "Aiflow_Palette", method: http.MethodGet, path: "/aiflow/palette", summary: "The node types that flows and bots are made of",
		about: "What an editor needs to know: for each type its group, its outputs, the engines that have it, and the JSON Schema of its config, " +
			"with `x-kind` where a text is more than that (template, expression, data, duration, bytes, schema).",
	}, anyUser, s.palette)
}

func (s *Server) palette(context.Context, call, *struct{}) (flow.Palette, error) {
	return s.Runs.Types().Describe(), nil
}
