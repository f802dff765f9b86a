package node

import (
	"fmt"
	"reflect"
	"regexp"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/pattern"
)

// switchConfig is the configuration of a node that compares a value with several
// cases.
type switchConfig struct {
	Value flow.Data    `json:"value" required:"true" doc:"The value to compare."`
	Cases []switchCase `json:"cases" required:"true" min:"1" max:"50" doc:"Cases, tested in this order. The first match is used."`
}

type switchCase struct {
	ID      string      `json:"id" required:"true" pattern:"id" doc:"Id of the case, which is the name of its output."`
	Equals  flow.Data   `json:"equals" doc:"A value, or a list of values of which one must be equal."`
	Between []flow.Data `json:"between" min:"2" max:"2" doc:"[minimum, maximum], both included: numbers or texts."`
	Matches string      `json:"matches" max:"1000" doc:"A regular expression (RE2) that the value's text must match."`

	regexp *regexp.Regexp
}

func switchType() flow.NodeType {
	return flow.NodeType{
		Name: "switch", Group: "flow", Text: "Continues at the first case that matches a value.",
		Engines: modern(), Pass: "default",
		Outputs: []flow.Output{{Name: "<case id>", Text: "the first case that matches"}, {Name: "default", Text: "no case matches"}},
		Config:  func() flow.Config { return &switchConfig{} },
	}
}

func (cfg *switchConfig) Outputs() []string {
	outs := []string{"default"}
	for _, c := range cfg.Cases {
		outs = append(outs, c.ID)
	}
	return outs
}

func (cfg *switchConfig) Check(c *flow.Checker) {
	for i := range cfg.Cases {
		k := &cfg.Cases[i]
		c.OwnID(k.ID, "cases", i, "id")
		tests := 0
		for _, given := range []bool{k.Equals.Present(), k.Between != nil, k.Matches != ""} {
			if given {
				tests++
			}
		}
		if tests != 1 {
			c.Problem("switch.test", "a case needs exactly one of equals, between and matches", "", "cases", i)
		}
		if k.Matches != "" {
			k.regexp = c.Regexp(k.Matches, "cases", i, "matches")
		}
	}
}

// Step takes the first case that matches the value.
func (cfg *switchConfig) Step(t *flow.Turn) (flow.Exit, error) {
	v, err := t.Data(cfg.Value)
	if err != nil {
		return flow.Exit{}, err
	}
	if v, err = values.Admit(v); err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"value": v}, nil)
	for i := range cfg.Cases {
		k := &cfg.Cases[i]
		fits, err := k.fits(t, v)
		if err != nil {
			return flow.Exit{}, fmt.Errorf("%s: %w", k.ID, err)
		}
		if fits {
			return flow.Out(k.ID), nil
		}
	}
	return flow.Out("default"), nil
}

func (k *switchCase) fits(t *flow.Turn, v any) (bool, error) {
	switch {
	case k.regexp != nil:
		return v != nil && k.regexp.MatchString(pattern.Searched(expression.Format(v))), nil
	case k.Between != nil:
		return k.between(t, v)
	}
	want, err := t.Data(k.Equals)
	if err != nil {
		return false, err
	}
	if want, err = values.Admit(want); err != nil {
		return false, err
	}
	if equal(want, v) {
		return true, nil
	}
	list, _ := want.([]any)
	for _, item := range list {
		if equal(item, v) {
			return true, nil
		}
	}
	return false, nil
}

func (k *switchCase) between(t *flow.Turn, v any) (bool, error) {
	for i, sign := range []int{-1, 1} {
		end, err := t.Data(k.Between[i])
		if err != nil {
			return false, err
		}
		if end, err = values.Admit(end); err != nil {
			return false, err
		}
		order, ok := compare(v, end)
		if !ok || order == sign {
			return false, nil
		}
	}
	return true, nil
}

// equal compares values; 1 and "1" differ.
func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// compare orders two numbers or two texts.
func compare(a, b any) (order int, ok bool) {
	if x, is := toFloat(a); is {
		y, is := toFloat(b)
		switch {
		case !is:
			return 0, false
		case x < y:
			return -1, true
		case x > y:
			return 1, true
		}
		return 0, true
	}
	x, isX := a.(string)
	y, isY := b.(string)
	switch {
	case !isX || !isY:
		return 0, false
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, true
}
