//go:build !unix

package testkit

import (
	"testing"
	"time"
)

// ownCPUTime is unknown on such a system.
func ownCPUTime(testing.TB) time.Duration { return 0 }
