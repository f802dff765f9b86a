package view

import (
	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// Publisher returns the caller, as one who makes a version of a flow the one
// that runs: with no more rights than the token of the call has.
func Publisher(c httpapi.Call) aiflow.Publisher {
	by := aiflow.Publisher{User: c.User}
	if c.Scoped {
		by.Permissions = []string{}
		for _, p := range c.Permissions {
			by.Permissions = append(by.Permissions, string(p))
		}
	}
	return by
}
