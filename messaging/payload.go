package messaging

import (
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// failureOf is what a network said, without what no database stores.
func failureOf(f provider.Failure) Failure {
	return Failure{Code: store.Sanitize(f.Code), Message: store.Sanitize(f.Message), Advice: store.Sanitize(f.Advice)}
}
