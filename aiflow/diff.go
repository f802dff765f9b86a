package aiflow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Diff is how two versions of a flow differ, in an order that depends on
// nothing else. What means the same is not told: the order of members, how
// numbers are written, and ui.
type Diff struct {
	From, To  int64          // the versions; 0: From nothing, To the draft
	Nodes     []NodeDiff     // by id
	Edges     []EdgeDiff     // by node and output, also those of nodes that came or went
	Rest      []Change       // of the document without its nodes, by path: settings, variables, start …
	Functions []FunctionDiff // that come with it, by slug; of a draft with errors none are known
}

// What became of something.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// NodeDiff is what became of a node.
type NodeDiff struct {
	ID, Type string // Type is the newer one; "" when it is no text
	Kind     string // Added, Removed, Changed
	Changes  []Change
}

// Change is a value that differs. Lists of the same length are compared item by
// item, others as a whole.
type Change struct {
	Path     string          // JSON pointer into the document
	Kind     string          // Added, Removed, Changed
	From, To json.RawMessage // nil: it is not there
}

// EdgeDiff is an output that leads elsewhere.
type EdgeDiff struct {
	Node, Output string
	From, To     string // ids of nodes; "": to none
}

// FunctionDiff is a function that comes in another version.
type FunctionDiff struct {
	Slug     string
	From, To *int64 // nil: it does not come with it; 0: one of before an import
}

// Diff compares two versions of a flow. If from is 0, it is the published
// version, or nothing if there is none. If to is 0, it is the draft.
func (a Versions) Diff(ctx context.Context, id string, from, to int64) (Diff, error) {
	r, err := a.flow(ctx, a.s.db, id, "")
	if err != nil {
		return Diff{}, err
	}
	from = cmp.Or(from, r.Version)
	older, err := a.side(ctx, r, from, "from")
	if err != nil {
		return Diff{}, err
	}
	newer := older
	switch {
	case to == 0:
		newer, err = a.draftSide(ctx, r)
	case to != from:
		newer, err = a.side(ctx, r, to, "to")
	}
	if err != nil {
		return Diff{}, err
	}
	d := Diff{From: from, To: to, Functions: []FunctionDiff{}}
	if older.known && newer.known {
		d.Functions = functionDiffs(older.pins, newer.pins)
	}
	err = d.compare(older.text, newer.text)
	return d, err
}

// side is one of two versions that are compared.
type side struct {
	text  json.RawMessage
	pins  []Pinned
	known bool // what pins are
}

func (a Versions) side(ctx context.Context, r flowRow, version int64, field string) (side, error) {
	if version == 0 {
		return side{text: json.RawMessage("{}"), known: true}, nil
	}
	v, err := a.version(ctx, a.s.db, r.ID, version)
	if errors.Is(err, ErrNotFound) {
		err = &Invalid{Field: field, Message: "must be a published version"}
	}
	return side{v.Document, v.Functions, true}, err
}

func (a Versions) draftSide(ctx context.Context, r flowRow) (side, error) {
	env, err := a.environment(ctx, a.s.db, r.Project)
	if err != nil {
		return side{}, err
	}
	program, doc, _ := a.s.compile(json.RawMessage(r.Draft), env)
	s := side{text: json.RawMessage(r.Draft), known: program != nil}
	if s.known {
		s.pins = env.pins(doc, program)
	}
	return s, nil
}

// meaning is a document without what does not matter.
func meaning(text json.RawMessage) (map[string]any, error) {
	if d, _ := flow.Decode(text); d != nil {
		text = d.Canonical()
	}
	v, err := decodeValue(text)
	if err != nil {
		return nil, fmt.Errorf("reading a document: %w", err)
	}
	object, _ := v.(map[string]any)
	delete(object, "ui")
	return object, nil
}

func (d *Diff) compare(older, newer json.RawMessage) error {
	from, err := meaning(older)
	if err != nil {
		return err
	}
	to, err := meaning(newer)
	if err != nil {
		return err
	}
	oldNodes, newNodes := takeNodes(from), takeNodes(to)
	d.Nodes, d.Edges = []NodeDiff{}, []EdgeDiff{}
	for _, id := range keysOf(oldNodes, newNodes) {
		d.node(id, oldNodes, newNodes)
	}
	c := changes{}
	c.value("", from, to)
	d.Rest = c.found()
	return nil
}

// takeNodes takes the nodes out of a document; what is no object of nodes stays.
func takeNodes(document map[string]any) map[string]any {
	nodes, is := document["nodes"].(map[string]any)
	if is {
		delete(document, "nodes")
	}
	return nodes
}

func (d *Diff) node(id string, older, newer map[string]any) {
	from, was := older[id]
	to, is := newer[id]
	for _, output := range keysOf(edgesOf(from), edgesOf(to)) {
		e := EdgeDiff{Node: id, Output: output}
		e.From, _ = edgesOf(from)[output].(string)
		e.To, _ = edgesOf(to)[output].(string)
		if e.From != e.To {
			d.Edges = append(d.Edges, e)
		}
	}
	n := NodeDiff{ID: id, Type: typeOf(to)}
	path := pointer("/nodes", id)
	c := changes{}
	switch {
	case !was:
		n.Kind = Added
		c.add(path, nil, written(to))
	case !is:
		n.Kind, n.Type = Removed, typeOf(from)
		c.add(path, written(from), nil)
	default:
		n.Kind = Changed
		c.value(path, withoutEdges(from), withoutEdges(to))
	}
	if n.Changes = c.found(); len(n.Changes) > 0 {
		d.Nodes = append(d.Nodes, n)
	}
}

func typeOf(node any) string {
	object, _ := node.(map[string]any)
	typ, _ := object["type"].(string)
	return typ
}
