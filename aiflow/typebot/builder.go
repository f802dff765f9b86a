package typebot

import (
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

const startID = "start"

// part is a node that is being made.
type part struct {
	id, kind string
	config   map[string]any
	next     map[string]link
	x, y     float64
}

type builder struct {
	export   object
	graph    *graph
	names    *names
	parts    []*part
	taken    map[string]bool // ids of nodes
	problems []flow.Problem
}

func newBuilder(export object) *builder {
	return &builder{
		export: export, graph: newGraph(export), names: newNames(export.objects("variables")), taken: map[string]bool{}, problems: []flow.Problem{},
	}
}

// problem names something that is not in the draft (an error), or that is not
// quite the same there (a warning).
func (b *builder) problem(severity, code string, p place, node, message, hint string) {
	if len(b.problems) >= MaxProblems {
		return
	}
	at := fmt.Sprintf("/groups/%d/blocks/%d", p.group, p.block)
	b.problems = append(b.problems, flow.Problem{Severity: severity, Code: code, NodeID: node, Path: at, Message: message, Hint: hint})
}

func (b *builder) changed(p place, node, message string) {
	b.problem(flow.SeverityWarning, codeChanged, p, node, message, "")
}

// omit leaves a block out: what leads to it leads on, and a note says so.
func (b *builder) omit(p place, code, message, hint string) {
	note := b.node(p, "note", map[string]any{"text": truncate("Typebot: "+message, 4000)})
	b.problem(flow.SeverityError, code, p, note.id, message, hint)
}

// node makes a node that nothing leads to yet.
func (b *builder) node(p place, kind string, config map[string]any) *part {
	g := b.graph.groups[p.group]
	base := truncate(strings.ReplaceAll(ascii(g.title, '_'), "-", "_"), 40)
	if base == "" || base[0] >= '0' && base[0] <= '9' {
		base = strings.TrimSuffix("g"+fmt.Sprint(p.group+1)+"_"+base, "_")
	}
	return b.named(base+"_"+kind, kind, config, g.x, g.y+float64(p.block)*90)
}

func (b *builder) named(id, kind string, config map[string]any, x, y float64) *part {
	own := id
	for i := 2; b.taken[own]; i++ {
		own = fmt.Sprintf("%s_%d", id, i)
	}
	b.taken[own] = true
	out := &part{id: own, kind: kind, config: config, next: map[string]link{}, x: x, y: y}
	b.parts = append(b.parts, out)
	return out
}

// begin makes a node that is how a block begins.
func (b *builder) begin(p place, kind string, config map[string]any) *part {
	out := b.node(p, kind, config)
	b.graph.first[p] = out.id
	return out
}

// step makes a node that is all of a block, and that leads on.
func (b *builder) step(p place, kind string, config map[string]any) *part {
	out := b.begin(p, kind, config)
	out.next["out"] = b.graph.onward(p)
	return out
}

// start makes the trigger. What leads from it is the start event, or in older
// exports the block of type start.
func (b *builder) start() {
	x, y := 0.0, 0.0
	if len(b.graph.groups) > 0 {
		x, y = b.graph.groups[0].x-250, b.graph.groups[0].y
	}
	trigger := b.named(startID, "trigger", map[string]any{"on": b.rules()}, x, y)
	for _, e := range b.export.objects("events") {
		if e.text("type") == "start" {
			trigger.next["out"] = link{edge: b.graph.edge(e), to: nowhere.to}
			return
		}
	}
	for g := range b.graph.groups {
		for n, block := range b.graph.groups[g].blocks {
			if block.text("type") == "start" {
				trigger.next["out"] = b.graph.onward(place{g, n})
				return
			}
		}
	}
}

// rules are what the export says of when a conversation on WhatsApp begins:
// without conditions at any message.
func (b *builder) rules() []any {
	condition := b.export.object("settings").object("whatsApp").object("startCondition")
	matches := map[string]string{"Equal to": "exact", "Contains": "contains", "Starts with": "starts"}
	var out []any
	for _, c := range condition.objects("comparisons") {
		match, word := matches[c.text("comparisonOperator")], strings.TrimSpace(c.text("value"))
		if match == "" || word == "" || len([]rune(word)) > 64 {
			out = nil
			break
		}
		out = append(out, map[string]any{"kind": "keyword", "match": match, "keywords": []string{word}})
	}
	if len(out) == 0 || len(out) > 20 || len(out) > 1 && condition.text("logicalOperator") == "AND" {
		if len(condition.objects("comparisons")) > 0 {
			b.problems = append(b.problems, flow.Problem{
				Severity: flow.SeverityWarning, Code: codeChanged, NodeID: startID, Path: "/settings/whatsApp/startCondition",
				Message: "the condition has no keywords: the flow starts with any message",
			})
		}
		return []any{map[string]any{"kind": "any_message"}}
	}
	return out
}

// replyTimeout is when a conversation expires: Typebot's default is four hours.
func replyTimeout(export object) string {
	hours, is := export.object("settings").object("whatsApp").number("sessionExpiryTimeout")
	if !is || hours < 0.01 || hours > 30*24 {
		hours = 4
	}
	return fmt.Sprintf("PT%dS", int(hours*3600))
}
