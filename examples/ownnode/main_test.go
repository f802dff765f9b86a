package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestReadme runs the line of the README, and types.
func TestReadme(t *testing.T) {
	t.Parallel()
	sh := testkit.NewShell(t)
	sh.Send(t, testkit.ReadExample(t).Block(t, "start")+"10115\n 28013 \n99999\na postal code that is none\n")
	require.Equal(t, []string{
		"> We deliver to Berlin tomorrow.", "> We deliver to Madrid tomorrow.", "> We do not deliver there yet.", "> That is no postal code.",
	}, sh.Rest(t))
}
