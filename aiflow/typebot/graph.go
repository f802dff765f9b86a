package typebot

import "cmp"

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

// graph is what an export says of its blocks and of the edges between them, and
// what was made of them.
type graph struct {
	groups  []group
	group   map[string]int    // by the id of a group
	blocks  map[string]place  // by the id of a block
	edges   map[string]object // by their ids
	leaving map[string]string // edges by the block, the item or the event that they leave
	first   map[place]string  // the node with which a block begins
	through map[place]link    // where blocks lead that are nothing but an edge
}

func newGraph(export object) *graph {
	g := &graph{
		group: map[string]int{}, blocks: map[string]place{}, edges: map[string]object{}, leaving: map[string]string{},
		first: map[place]string{}, through: map[place]link{},
	}
	for n, in := range export.objects("groups") {
		at := in.object("graphCoordinates")
		x, _ := at.number("x")
		y, _ := at.number("y")
		g.groups = append(g.groups, group{in.text("id"), in.text("title"), x, y, in.objects("blocks")})
		g.group[in.text("id")] = n
		for i, block := range g.groups[n].blocks {
			g.blocks[block.text("id")] = place{n, i}
		}
	}
	for _, e := range export.objects("edges") {
		g.edges[e.text("id")] = e
		from := e.object("from")
		g.leaving[cmp.Or(from.text("itemId"), from.text("blockId"), from.text("eventId"))] = e.text("id")
	}
	return g
}

// onward is where a block leads.
func (g *graph) onward(p place) link {
	return link{edge: g.edge(g.at(p)), to: place{p.group, p.block + 1}}
}

// edge is the one that leaves a block, an item or an event; "": none does.
func (g *graph) edge(from object) string {
	return cmp.Or(from.text("outgoingEdgeId"), g.leaving[from.text("id")])
}

// resolve finds the node of a link; "": it leads nowhere.
func (g *graph) resolve(l link) string {
	if l.node != "" {
		return l.node
	}
	seen := map[place]bool{}
	for {
		p, is := g.target(l)
		if !is || p.block >= len(g.groups[p.group].blocks) || seen[p] {
			return ""
		}
		if id := g.first[p]; id != "" {
			return id
		}
		seen[p] = true
		if to, is := g.through[p]; is {
			l = to
		} else {
			l = g.onward(p) // nothing was made of it
		}
	}
}

// target is the place that a link leads to.
func (g *graph) target(l link) (place, bool) {
	e, known := g.edges[l.edge]
	if l.edge == "" || !known {
		return l.to, l.to.group >= 0
	}
	return g.locate(e.object("to"))
}

// locate finds the place that a target names: a block, or the first one of a
// group.
func (g *graph) locate(to object) (place, bool) {
	if p, is := g.blocks[to.text("blockId")]; is {
		return p, true
	}
	at, is := g.group[to.text("groupId")]
	return place{at, 0}, is
}

// nowhere is a link that ends the path.
var nowhere = link{to: place{-1, 0}}

// at returns the block of a place.
func (g *graph) at(p place) object { return g.groups[p.group].blocks[p.block] }
