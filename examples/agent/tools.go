package main

import (
	"context"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server"
)

// orders are the orders of the shop.
var orders = map[string]order{
	"A-17": {Status: "on its way", Arrives: "tomorrow"},
	"A-18": {Status: "being packed", Arrives: "on Friday"},
}

type order struct {
	Status  string `json:"status" doc:"How far it is."`
	Arrives string `json:"arrives" doc:"When it arrives."`
}

// shopTools registers the functions that the agent can call. Their doc tags and
// descriptions are all that a model knows about them.
func shopTools(s *server.Server) error {
	type number struct {
		Order string `json:"order" maxLength:"20" doc:"Number of the order, such as A-17."`
	}
	err := mcp.Register(s.MCP, mcp.Function[number, order]{
		Name: "order_status", Description: "Says how far an order is and when it arrives.", ReadOnly: true,
		Handler: func(_ context.Context, _ mcp.Call, in number) (order, error) {
			o, ok := orders[in.Order]
			if !ok {
				return o, &mcp.Error{Code: mcp.CodeNotFound, Message: "there is no order of that number"}
			}
			return o, nil
		},
	})
	if err != nil {
		return err
	}
	type hours struct {
		Weekdays string `json:"weekdays"`
		Sunday   string `json:"sunday"`
	}
	return mcp.Register(s.MCP, mcp.Function[struct{}, hours]{
		Name: "opening_hours", Description: "Says when the shop is open: its hours.", ReadOnly: true,
		Handler: func(context.Context, mcp.Call, struct{}) (hours, error) { return hours{"9 to 18", "closed"}, nil },
	})
}
