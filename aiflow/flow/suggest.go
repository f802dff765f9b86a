package flow

import "github.com/trunklinehq/trunkline/aiflow/flow/expression"

// didYouMean is a hint at the one of names that is written most like name;
// "" when none is.
func didYouMean(name string, names []string) string {
	if best := expression.Nearest(name, names); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}
