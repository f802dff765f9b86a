package view

import (
	"strconv"

	"github.com/trunklinehq/trunkline/provider"
)

// WebhookScope is the scope of a reference's endpoints.
func WebhookScope(id provider.ReferenceID) string { return strconv.FormatInt(int64(id), 10) }
