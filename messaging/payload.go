package messaging

import (
	"github.com/trunklinehq/trunkline/provider"
)

// failureOf is what a network said, without what no database stores.
func failureOf(f provider.Failure) Failure {
	return Failure{Code: sanitize(f.Code), Message: sanitize(f.Message), Advice: sanitize(f.Advice)}
}
