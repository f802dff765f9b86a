package flow_test

import (
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// discount is the configuration of a custom node type. The tags describe its
// representation in documents. Expressions are compiled and checked with the
// document.
type discount struct {
	Of      flow.Expression `json:"of" required:"true" want:"number" doc:"The price."`
	Percent int             `json:"percent" default:"10" min:"1" max:"90" doc:"How much is taken off."`
	SaveTo  string          `json:"saveTo" required:"true" pattern:"variable" writes:"true" doc:"Variable that takes the new price."`
}

func (*discount) Outputs() []string { return []string{"out", "free"} }

// Check finds what tags cannot express.
func (d *discount) Check(c *flow.Checker) {
	if d.Percent%5 != 0 {
		c.Problem("discount.step", "must be a multiple of 5", "", "percent")
	}
}

// Step returns what the node does when a run comes to it.
func (d *discount) Step(t *flow.Turn) (flow.Exit, error) {
	price, err := t.Eval(d.Of)
	if err != nil {
		return flow.Exit{}, err
	}
	cents := price.(int) * (100 - d.Percent) / 100
	if cents == 0 {
		return flow.Out("free"), nil
	}
	return flow.Out("out"), t.Set(d.SaveTo, cents)
}

// Documents, editors and runs treat a custom node type like a built-in one.
func ExampleTypes_Register() {
	types := node.NewTypes()
	err := types.Register(flow.NodeType{
		Name: "x.discount", Group: "shop", Text: "Takes something off a price.",
		Outputs: []flow.Output{{Name: "out", Text: "there is something to pay"}, {Name: "free", Text: "there is not"}},
		Config:  func() flow.Config { return &discount{} },
	})
	if err != nil {
		fmt.Println(err)
	}

	document := func(config string) *flow.Document {
		d, _ := flow.Decode([]byte(`{
			"format": "trunkline-flow/1", "kind": "flow", "slug": "sale", "name": "Sale", "start": "begin",
			"variables": {"price": {"type": "integer", "default": 2000}},
			"nodes": {
				"begin": {"type": "trigger", "next": {"out": "cut"}},
				"cut":   {"type": "x.discount", "config": ` + config + `, "next": {"out": "tell"}},
				"tell":  {"type": "message", "config": {"text": "Now {{ vars.price }} cents"}}
			}}`))
		return d
	}

	_, problems := types.Compile(document(`{"of": "vars.prize", "percent": 12, "saveTo": "price"}`), nil)
	for _, p := range problems {
		fmt.Println(p.Error())
	}

	program, _ := types.Compile(document(`{"of": "vars.price", "percent": 25, "saveTo": "price"}`), nil)
	turn, err := program.Step(nil, flow.Begin{}, flow.World{Now: time.Now(), Chat: map[string]any{"id": "maria@sandbox"}})
	if err != nil {
		fmt.Println(err)
	}
	for _, e := range turn.Effects {
		if send, ok := e.(flow.Send); ok {
			fmt.Println(string(send.Message))
		}
	}
	// Output:
	// /nodes/cut/config/of: uses the member "prize", which is not declared
	// /nodes/cut/config/percent: must be a multiple of 5
	// {"type":"text","text":"Now 1500 cents"}
}
