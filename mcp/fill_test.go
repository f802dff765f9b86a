package mcp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp"
)

type listed struct {
	Tags []string `json:"tags"`
}

type holding struct {
	listed

	ByName  map[string]listed `json:"byName"`
	All     []*listed         `json:"all"`
	One     *listed           `json:"one"`
	None    *listed           `json:"none"`
	Names   []string          `json:"names"`
	Missing []string          `json:"missing,omitempty"`
}

// TestEmptyLists checks that lists are never null, and that the handler's own value
// does not change.
func TestEmptyLists(t *testing.T) {
	t.Parallel()
	kept := holding{
		ByName: map[string]listed{"a": {}, "b": {Tags: []string{"x"}}},
		All:    []*listed{{}, nil, {Tags: []string{"y"}}},
		One:    &listed{},
		Names:  []string{"z"},
	}
	r := free(t, mcp.Options{})
	add(t, r, "lists", func(context.Context, mcp.Call, none) (holding, error) { return kept, nil })
	out := call(t, r, ana, "lists", "")
	require.True(t, out.Success, out.Error)
	require.JSONEq(t, `{"tags":[],"byName":{"a":{"tags":[]},"b":{"tags":["x"]}},"all":[{"tags":[]},null,{"tags":["y"]}],
		"one":{"tags":[]},"none":null,"names":["z"]}`, string(out.Result))
	require.Nil(t, kept.ByName["a"].Tags)
	require.Nil(t, kept.All[0].Tags)
	require.Nil(t, kept.One.Tags)
}
