package typebot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Flow is an export as a flow.
type Flow struct {
	Name  string
	Draft json.RawMessage // a document of the flow language
	// Problems name what the draft does not have, as errors, and what is not
	// quite the same, as warnings. Their paths are JSON pointers into the
	// export. Never nil.
	Problems []flow.Problem
}

// ErrFormat reports what is no export of Typebot.
var ErrFormat = errors.New("typebot: no export of Typebot: a JSON object with a version, groups and edges")

// The most that an export may have. A flow has 1,000 nodes and 200 variables at
// most.
const (
	MaxBlocks    = 2000
	MaxVariables = 1000
	MaxProblems  = 1000 // that are named
)

// ErrTooLarge reports an export that has more.
var ErrTooLarge = fmt.Errorf("typebot: the export has more than %d blocks, or %d variables", MaxBlocks, MaxVariables)

// The codes of problems.
const (
	codeBlock   = "typebot.block"   // a block has no counterpart
	codeCode    = "typebot.code"    // JavaScript
	codeChanged = "typebot.changed" // it is not quite the same here
)

// Is says whether a document looks like an export of Typebot.
func Is(document []byte) bool {
	_, err := parse(document)
	return err == nil
}

func parse(document []byte) (object, error) {
	var in map[string]any
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	if !utf8.Valid(document) || d.Decode(&in) != nil {
		return object{}, ErrFormat
	}
	export := object{in}
	if inner := export.object("typebot"); inner.m != nil { // as its API answers
		export = inner
	}
	_, groups := export.m["groups"].([]any)
	_, edges := export.m["edges"].([]any)
	if !groups || !edges || export.m["version"] == nil {
		return object{}, ErrFormat
	}
	return export, nil
}

// Convert makes a flow of an export. What is none is [ErrFormat], one of more
// than [MaxBlocks] is [ErrTooLarge].
func Convert(document []byte) (Flow, error) {
	export, err := parse(document)
	if err != nil {
		return Flow{}, err
	}
	if tooLarge(export) {
		return Flow{}, ErrTooLarge
	}
	b := newBuilder(export)
	b.start()
	for g := range b.graph.groups {
		for n := 0; n < len(b.graph.groups[g].blocks); n++ {
			n += b.block(place{g, n})
		}
	}
	name := truncate(strings.TrimSpace(export.text("name")), 128)
	name = cmp.Or(name, "Typebot")
	draft, err := b.document(name)
	if err != nil {
		return Flow{}, fmt.Errorf("typebot: writing the flow: %w", err)
	}
	return Flow{Name: name, Draft: draft, Problems: b.problems}, nil
}

func tooLarge(export object) bool {
	groups := export.objects("groups")
	blocks := 0
	for _, g := range groups {
		blocks += len(g.objects("blocks"))
	}
	return max(blocks, len(groups)) > MaxBlocks || len(export.objects("variables")) > MaxVariables
}

// document writes what was built.
func (b *builder) document(name string) (json.RawMessage, error) {
	nodes, places := map[string]any{}, map[string]any{}
	for _, p := range b.parts {
		node := map[string]any{"type": p.kind}
		if len(p.config) > 0 {
			node["config"] = p.config
		}
		next := map[string]string{}
		for output, to := range p.next {
			if id := b.graph.resolve(to); id != "" {
				next[output] = id
			}
		}
		if len(next) > 0 {
			node["next"] = next
		}
		nodes[p.id] = node
		places[p.id] = map[string]any{"x": p.x, "y": p.y}
	}
	variables := map[string]any{}
	for _, v := range b.names.all {
		variables[v] = map[string]any{"type": "any"}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(map[string]any{
		"format": flow.Format, "kind": flow.KindFlow, "slug": slug(name), "name": name, "start": startID,
		"settings": map[string]any{"replyTimeout": replyTimeout(b.export)}, "variables": variables, "nodes": nodes,
		"ui": map[string]any{"nodes": places},
	})
	return bytes.TrimSpace(out.Bytes()), err
}
