package callback

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// maxReplayable bounds what is kept of one callback so that items of it can be
	// read again. A callback has up to 4 MiB, and every item its surroundings.
	maxReplayable = 4 << 20
	// maxSurrounding and maxSurroundings bound a member beside an item, and all of
	// those of one object.
	maxSurrounding, maxSurroundings = 1 << 10, 4 << 10
	// maxNesting is how deep items are in a callback, with some to spare. Each level
	// is scanned once more.
	maxNesting = 12
)

// surroundings finds bad items in a part and returns, by item, the part without its
// neighbours: with the small members of the objects around it, and an array of one
// element where it was in an array. An item that it does not find has none.
type surroundings struct {
	wanted map[*byte]int // items by the address of their first byte
	items  []provider.Bad
	path   []*container
	out    []json.RawMessage
	room   *int
}

// container is an object or an array around an item.
type container struct {
	array  bool
	raw    []byte
	member int    // the one on the path
	name   []byte // of that
	kept   []keptMember
	read   bool // kept is
}

// keptMember is a member of an object that is repeated around each item.
type keptMember struct {
	index int
	text  string
}

// surrounding returns the [surroundings] of items within room, which it reduces.
func surrounding(body json.RawMessage, items []provider.Bad, room *int) []json.RawMessage {
	s := &surroundings{wanted: map[*byte]int{}, items: items, out: make([]json.RawMessage, len(items)), room: room}
	for i, b := range items {
		if len(b.Body) > 0 {
			s.wanted[&b.Body[0]] = i
		}
	}
	if json.Valid(body) {
		s.visit(body)
	}
	return s.out
}

// visit looks for items in a value.
func (s *surroundings) visit(v []byte) {
	if len(v) == 0 || len(s.wanted) == 0 || len(s.path) > maxNesting {
		return
	}
	if i, ok := s.wanted[&v[0]]; ok && len(s.items[i].Body) == len(v) {
		delete(s.wanted, &v[0])
		s.keep(i, v)
		return
	}
	c := &container{raw: v, member: -1}
	switch jsonscan.Kind(v) {
	case '{':
		s.path = append(s.path, c)
		for name, value := range jsonscan.Members(v) {
			c.member++
			c.name = name
			s.visit(value)
		}
	case '[':
		c.array = true
		s.path = append(s.path, c)
		for value := range jsonscan.Elements(v) {
			s.visit(value)
		}
	default:
		return
	}
	s.path = s.path[:len(s.path)-1]
}

// keep writes an item with what is around it.
func (s *surroundings) keep(i int, item []byte) {
	before, after := []byte{}, []byte{}
	for _, c := range s.path {
		if c.array {
			before, after = append(before, '['), append([]byte{']'}, after...)
			continue
		}
		before = append(before, '{')
		for _, m := range c.members() {
			if m.index != c.member {
				before = append(append(before, m.text...), ',')
			}
		}
		before = append(append(before, quoted(c.name)...), ':')
		after = append([]byte{'}'}, after...)
	}
	if size := len(before) + len(item) + len(after); size <= *s.room {
		*s.room -= size
		s.out[i] = append(append(before, item...), after...)
	}
}

// members are the small members of an object.
func (c *container) members() []keptMember {
	if c.read {
		return c.kept
	}
	c.read = true
	i, room := -1, maxSurroundings
	for name, value := range jsonscan.Members(c.raw) {
		i++
		if len(value) > maxSurrounding || len(name)+len(value) > room || isList(value) {
			continue
		}
		room -= len(name) + len(value)
		c.kept = append(c.kept, keptMember{i, quoted(name) + ":" + string(value)})
	}
	return c.kept
}

// isList reports whether an array has more than one element.
func isList(value []byte) bool {
	n := 0
	for range jsonscan.Elements(value) {
		if n++; n > 1 {
			return true
		}
	}
	return false
}

func quoted(name []byte) string {
	out, _ := json.Marshal(string(name)) // a string
	return string(out)
}
