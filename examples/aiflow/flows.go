package main

// document is a flow or a function, with only the members that these two need:
// docs/flows.md has all of them.
type document struct {
	Format    string           `json:"format"`
	Kind      string           `json:"kind"`
	Slug      string           `json:"slug"`
	Name      string           `json:"name"`
	Start     string           `json:"start"`
	Args      map[string]typed `json:"args,omitempty"`
	Returns   map[string]typed `json:"returns,omitempty"`
	Variables map[string]typed `json:"variables,omitempty"`
	Nodes     map[string]node  `json:"nodes"`
}

type typed struct {
	Type    string `json:"type"`
	Default any    `json:"default,omitempty"`
}

type node struct {
	Type   string            `json:"type"`
	Config map[string]any    `json:"config,omitempty"`
	Next   map[string]string `json:"next,omitempty"` // the next node for each output
}

// vat returns a function that adds the tax to a price.
func vat() document {
	return document{
		Format: "trunkline-flow/1", Kind: "function", Slug: "vat", Name: "VAT", Start: "give",
		Args:    map[string]typed{"price": {Type: "number"}},
		Returns: map[string]typed{"gross": {Type: "number"}},
		Nodes: map[string]node{
			"give": {Type: "return", Config: map[string]any{"value": map[string]any{"gross": "{{ args.price * 1.2 }}"}}},
		},
	}
}

// invoice returns a flow that calls vat for each item and gives a discount if the
// sum is large.
func invoice() document {
	return document{
		Format: "trunkline-flow/1", Kind: "flow", Slug: "invoice", Name: "Invoice", Start: "begin",
		Variables: map[string]typed{"item": {Type: "object"}, "prices": {Type: "list", Default: []any{}}},
		Nodes: map[string]node{
			"begin": {Type: "trigger", Config: map[string]any{"on": []any{map[string]any{"kind": "api"}}}, Next: map[string]string{"out": "each"}},
			"each": {
				Type: "loop",
				Config: map[string]any{
					"kind": "each", "items": "input.items", "collect": map[string]any{"var": "prices", "value": "vars.item.gross"},
				},
				Next: map[string]string{"body": "tax", "done": "size"},
			},
			"tax": {Type: "call", Config: map[string]any{
				"function": "vat", "args": map[string]any{"price": "{{ item.price }}"}, "saveTo": "item",
			}},
			"size": {
				Type: "condition", Config: map[string]any{"branches": []any{map[string]any{"id": "large", "when": "sum(vars.prices) > 50"}}},
				Next: map[string]string{"large": "discount", "else": "total"},
			},
			"discount": {Type: "end", Config: map[string]any{"result": map[string]any{"total": "{{ sum(vars.prices) * 0.9 }}", "discount": true}}},
			"total":    {Type: "end", Config: map[string]any{"result": map[string]any{"total": "{{ sum(vars.prices) }}", "discount": false}}},
		},
	}
}
