package node

import (
	"regexp"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// switchConfig compares one value with several.
type switchConfig struct {
	Value flow.Data    `json:"value" required:"true" doc:"What is compared."`
	Cases []switchCase `json:"cases" required:"true" min:"1" max:"50" doc:"In their order; the first that fits wins."`
}

type switchCase struct {
	ID      string      `json:"id" required:"true" pattern:"id" doc:"Names the output."`
	Equals  flow.Data   `json:"equals" doc:"A value, or a list of which one must be equal."`
	Between []flow.Data `json:"between" min:"2" max:"2" doc:"[least, most], both included; numbers or texts."`
	Matches string      `json:"matches" max:"1000" doc:"A regular expression (RE2) that the value's text must match."`

	regexp *regexp.Regexp
}

func switchType() flow.NodeType {
	return flow.NodeType{
		Name: "switch", Group: "flow", Text: "Goes the way of the first case that fits a value.",
		Engines: flow.Modern(), Pass: "default",
		Outputs: []flow.Output{{Name: "<case id>", Text: "the first that fits"}, {Name: "default", Text: "none does"}},
		Config:  func() flow.Config { return &switchConfig{} },
	}
}

func (s *switchConfig) Outputs() []string {
	outs := []string{"default"}
	for _, c := range s.Cases {
		outs = append(outs, c.ID)
	}
	return outs
}

func (s *switchConfig) Check(c *flow.Checker) {
	for i := range s.Cases {
		k := &s.Cases[i]
		c.OwnID(k.ID, "cases", i, "id")
		tests := 0
		for _, given := range []bool{k.Equals.Present(), k.Between != nil, k.Matches != ""} {
			if given {
				tests++
			}
		}
		if tests != 1 {
			c.Problem("switch.test", "a case has exactly one of equals, between and matches", "", "cases", i)
		}
		if k.Matches != "" {
			k.regexp = c.Regexp(k.Matches, "cases", i, "matches")
		}
	}
}
