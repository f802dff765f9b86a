package server

import (
	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// publisher is whoever calls, as one who makes a version of a flow the one
// that runs: with no more rights than the token has by which he calls.
func publisher(c httpapi.Call) aiflow.Publisher {
	by := aiflow.Publisher{User: c.User}
	if c.Scoped {
		by.Permissions = []string{}
		for _, p := range c.Permissions {
			by.Permissions = append(by.Permissions, string(p))
		}
	}
	return by
}
