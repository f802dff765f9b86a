package providertest_test

import (
	"testing"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/providertest"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// A kind of reference is held to the suite by a test of its own.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestConformance(t *testing.T)
		providertest.Run(t, providertest.Harness{
			New: func(*testing.T) providertest.Setup {
				return providertest.Setup{Provider: sandbox.New(), Reference: provider.Reference{ID: 1}}
			},
			ChatIDs: []string{"ana@sandbox", "Ana"},
			Junk:    []string{"", "a b", "@sandbox"},
		})
	}
}
