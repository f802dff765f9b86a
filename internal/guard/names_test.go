package guard_test

import (
	"os"
	"testing"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// names answers what tests look up.
var names *testkit.Names

func TestMain(m *testing.M) {
	names = testkit.ServeNames()
	os.Exit(m.Run())
}
