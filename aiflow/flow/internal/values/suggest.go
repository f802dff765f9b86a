package values

import "github.com/trunklinehq/trunkline/aiflow/flow/expression"

// DidYouMean is a hint at the one of names that is written most like name;
// "" when none is.
func DidYouMean(name string, names []string) string {
	if best := expression.Nearest(name, names); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}
