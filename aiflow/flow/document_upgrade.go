package flow

import (
	"strconv"
	"strings"
)

// version is the one that Format names.
const version = 1

// migrations turn a document of an older format into one of the next: that at
// 0 makes a 2 of a 1. They depend on the document alone, and never change
// once a version of ours that has them is released.
var migrations []func(*tree) *tree

// upgrade brings a document to the format of now. It returns nil, and reports
// why, for one that we do not know.
func upgrade(root *tree, r *report) *tree {
	format := root.get("format")
	if format == nil {
		return root // what is missing is reported with the rest
	}
	text, known := strings.CutPrefix(format.text, "trunkline-flow/")
	from, err := strconv.Atoi(text)
	switch {
	case format.Kind != KindString || !known || err != nil || from < 1:
		r.problem("format.unknown", "is no format of a flow", "write "+Format, "format")
		return nil
	case from > version:
		r.problem("format.newer", "is newer than this version of Trunkline knows", "the newest that it reads is "+Format, "format")
		return nil
	}
	return migrate(root, from, migrations)
}

// migrate takes the steps from a version to the newest.
func migrate(root *tree, from int, steps []func(*tree) *tree) *tree {
	for _, step := range steps[min(from-1, len(steps)):] {
		root = step(root)
	}
	if from <= len(steps) {
		root = with(root, "format", &tree{Kind: KindString, text: "trunkline-flow/" + strconv.Itoa(len(steps)+1)})
	}
	return root
}

// with is an object whose member name is value; t stays as it is.
func with(t *tree, name string, value *tree) *tree {
	out := without(t, name)
	out.members = append(out.members, member{name, value})
	return out
}

// without is an object without a member; t stays as it is.
func without(t *tree, name string) *tree {
	out := &tree{Kind: KindObject, members: make([]member, 0, len(t.members))}
	for _, m := range t.members {
		if m.name != name {
			out.members = append(out.members, m)
		}
	}
	return out
}
