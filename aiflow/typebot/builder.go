package typebot

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

const startID = "start"

// place is a block: its group and its position there.
type place struct{ group, block int }

type group struct {
	id, title string
	x, y      float64
	blocks    []object
}

// link leads somewhere: along an edge, or to a place.
type link struct {
	edge string
	to   place
	node string // a node that was made with the one that has the link
}

// part is a node that is being made.
type part struct {
	id, kind string
	config   map[string]any
	next     map[string]link
	x, y     float64
}

type builder struct {
	export   object
	groups   []group
	group    map[string]int    // by the id of a group
	blocks   map[string]place  // by the id of a block
	edges    map[string]object // by their ids
	leaving  map[string]string // edges by the block, the item or the event that they leave
	names    *names
	parts    []*part
	taken    map[string]bool  // ids of nodes
	first    map[place]string // the node with which a block begins
	through  map[place]link   // where blocks lead that are nothing but an edge
	problems []flow.Problem
}

func newBuilder(export object) *builder {
	b := &builder{
		export: export, group: map[string]int{}, blocks: map[string]place{}, edges: map[string]object{}, leaving: map[string]string{},
		names: newNames(export.objects("variables")), taken: map[string]bool{}, first: map[place]string{}, through: map[place]link{}, problems: []flow.Problem{},
	}
	for g, in := range export.objects("groups") {
		at := in.object("graphCoordinates")
		x, _ := at.number("x")
		y, _ := at.number("y")
		b.groups = append(b.groups, group{in.text("id"), in.text("title"), x, y, in.objects("blocks")})
		b.group[in.text("id")] = g
		for n, block := range b.groups[g].blocks {
			b.blocks[block.text("id")] = place{g, n}
		}
	}
	for _, e := range export.objects("edges") {
		b.edges[e.text("id")] = e
		from := e.object("from")
		b.leaving[cmp.Or(from.text("itemId"), from.text("blockId"), from.text("eventId"))] = e.text("id")
	}
	return b
}

func (b *builder) at(p place) object { return b.groups[p.group].blocks[p.block] }

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
	g := b.groups[p.group]
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
	b.first[p] = out.id
	return out
}

// step makes a node that is all of a block, and that leads on.
func (b *builder) step(p place, kind string, config map[string]any) *part {
	out := b.begin(p, kind, config)
	out.next["out"] = b.onward(p)
	return out
}

// onward is where a block leads.
func (b *builder) onward(p place) link {
	return link{edge: b.edge(b.at(p)), to: place{p.group, p.block + 1}}
}

// edge is the one that leaves a block, an item or an event; "": none does.
func (b *builder) edge(from object) string {
	return cmp.Or(from.text("outgoingEdgeId"), b.leaving[from.text("id")])
}

// resolve finds the node of a link; "": it leads nowhere.
func (b *builder) resolve(l link) string {
	if l.node != "" {
		return l.node
	}
	seen := map[place]bool{}
	for {
		p, is := b.target(l)
		if !is || p.block >= len(b.groups[p.group].blocks) || seen[p] {
			return ""
		}
		if id := b.first[p]; id != "" {
			return id
		}
		seen[p] = true
		if to, is := b.through[p]; is {
			l = to
		} else {
			l = b.onward(p) // nothing was made of it
		}
	}
}

// target is the place that a link leads to.
func (b *builder) target(l link) (place, bool) {
	e, known := b.edges[l.edge]
	if l.edge == "" || !known {
		return l.to, l.to.group >= 0
	}
	return b.locate(e.object("to"))
}

// locate finds the place that a target names: a block, or the first one of a
// group.
func (b *builder) locate(to object) (place, bool) {
	if p, is := b.blocks[to.text("blockId")]; is {
		return p, true
	}
	g, is := b.group[to.text("groupId")]
	return place{g, 0}, is
}

// nowhere is a link that ends the path.
var nowhere = link{to: place{-1, 0}}

// start makes the trigger. What leads from it is the start event, or in older
// exports the block of type start.
func (b *builder) start() {
	x, y := 0.0, 0.0
	if len(b.groups) > 0 {
		x, y = b.groups[0].x-250, b.groups[0].y
	}
	trigger := b.named(startID, "trigger", map[string]any{"on": b.rules()}, x, y)
	for _, e := range b.export.objects("events") {
		if e.text("type") == "start" {
			trigger.next["out"] = link{edge: b.edge(e), to: nowhere.to}
			return
		}
	}
	for g := range b.groups {
		for n, block := range b.groups[g].blocks {
			if block.text("type") == "start" {
				trigger.next["out"] = b.onward(place{g, n})
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
				Message: "the condition is none of keywords: the flow begins at any message",
			})
		}
		return []any{map[string]any{"kind": "any_message"}}
	}
	return out
}

// replyTimeout is when a conversation expires: Typebot's default is four hours.
func (b *builder) replyTimeout() string {
	hours, is := b.export.object("settings").object("whatsApp").number("sessionExpiryTimeout")
	if !is || hours < 0.01 || hours > 30*24 {
		hours = 4
	}
	return fmt.Sprintf("PT%dS", int(hours*3600))
}
