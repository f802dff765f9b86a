package flow

import "slices"

// Calls are the slugs of the functions that the nodes of a document name, in
// order, whether they exist or not. The document may be wrong otherwise.
func (d *Document) Calls() []string {
	if d.root == nil {
		return nil
	}
	var slugs []string
	for _, n := range nodesOf(d.root) {
		config := n.value.get("config")
		if config == nil {
			continue
		}
		if typ := n.value.get("type"); typ == nil || typ.text != "call" && typ.text != "agent" {
			continue
		} else if typ.text == "call" {
			slugs = appendText(slugs, config.get("function"))
		} else if named := config.get("functions"); named != nil {
			for _, item := range named.items {
				slugs = appendText(slugs, item)
			}
		}
	}
	slices.Sort(slugs)
	return slices.Compact(slugs)
}

func nodesOf(root *tree) []member {
	if nodes := root.get("nodes"); nodes != nil {
		return nodes.members
	}
	return nil
}

func appendText(slugs []string, t *tree) []string {
	if t == nil || t.Kind != KindString {
		return slugs
	}
	return append(slugs, t.text)
}
