package main

import (
	"context"

	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/server"
)

// cents are the prices of the shop.
var cents = map[string]int{"cup": 900, "jug": 3500}

type item struct {
	Item  string `json:"item" maxLength:"40" doc:"What is bought, such as cup."`
	Count int    `json:"count,omitempty" minimum:"1" maximum:"100" default:"1" doc:"How many."`
}

type price struct {
	Cents    int    `json:"cents"`
	Currency string `json:"currency"`
}

// shop registers a function in addition to the built-in ones. The tags of its
// arguments are the rules for validation. The doc tags and the description are all
// that a model knows about it.
func shop(s *server.Server) error {
	return mcp.Register(s.MCP, mcp.Function[item, price]{
		Name: "price", Description: "Says what something costs in the shop.", Permission: "chats.read", ReadOnly: true,
		Handler: func(_ context.Context, _ mcp.Call, in item) (price, error) {
			one, known := cents[in.Item]
			if !known {
				return price{}, &mcp.Error{Code: mcp.CodeNotFound, Message: "the shop has no " + in.Item}
			}
			return price{one * in.Count, "EUR"}, nil
		},
	})
}
