package server

import "github.com/trunklinehq/trunkline/server/internal/view"

// What bodies are made of.
type (
	microUSD = view.MicroUSD
	document = view.Document
	runUsage = view.RunUsage
)
