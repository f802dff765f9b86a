package main

import (
	"context"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// towns are the towns to which the shop delivers, by postal code.
var towns = map[string]string{"10115": "Berlin", "28013": "Madrid", "75001": "Paris"}

// address is the configuration of a node of the type. Where an author has written
// {{ expressions }}, the function gets the rendered values.
type address struct {
	Postcode string `json:"postcode" required:"true" max:"10" doc:"Of the town, such as 10115."`
}

// town returns a node type: its function is called as an HTTP node calls an address.
func town() flow.NodeType {
	return flow.NodeType{
		Name: "x.town", Text: "Finds the town of a postal code.", Repeat: true,
		Outputs: []flow.Output{{Name: "out", Text: "we deliver there"}, {Name: "unknown", Text: "we do not"}},
		Run: flow.NodeFunc(func(_ context.Context, _ flow.NodeCall, in address) (flow.NodeResult, error) {
			name, known := towns[in.Postcode]
			if !known {
				return flow.NodeResult{Output: "unknown"}, nil
			}
			return flow.NodeResult{Value: name}, nil
		}),
	}
}
