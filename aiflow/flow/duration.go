package flow

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// ParseDuration reads a duration as documents have it, in the form of ISO
// 8601: PT90S, P1DT12H, P2W. A month and a year have no length of their own and
// are refused.
func ParseDuration(text string) (time.Duration, error) { return values.ParseDuration(text) }
