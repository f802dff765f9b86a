package server_test

import (
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// Each test has a database of its own, and none needs to see how it came to be.
func init() { testkit.Fill(server.Migrate) }
