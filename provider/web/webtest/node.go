package webtest

import (
	"fmt"
	"maps"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

type (
	node  = waBinary.Node
	attrs = waBinary.Attrs
)

// str returns an attribute as text; "" if it is missing.
func str(n *node, name string) string {
	switch v := n.Attrs[name].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// jid returns an attribute that is an address, or the empty JID.
func jid(n *node, name string) types.JID {
	j, _ := n.Attrs[name].(types.JID)
	return j
}

// body returns the bytes of a node; nil if it has children or no content.
func body(n node) []byte {
	b, _ := n.Content.([]byte)
	return b
}

// bytesOf returns the bytes of the descendant at a path.
func bytesOf(n *node, path ...string) []byte { return body(n.GetChildByTag(path...)) }

// has reports whether there is a descendant at a path.
func has(n *node, path ...string) bool {
	_, ok := n.GetOptionalChildByTag(path...)
	return ok
}

// firstChild returns the first child of a node, or an empty node.
func firstChild(n *node) node {
	if children := n.GetChildren(); len(children) > 0 {
		return children[0]
	}
	return node{}
}

// with returns a copy of a node with one more attribute.
func with(n node, name string, value any) node {
	n.Attrs = maps.Clone(n.Attrs)
	n.Attrs[name] = value
	return n
}

// put sets an attribute unless its value is empty.
func put(a attrs, name string, value any) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return
		}
	case types.JID:
		if v.IsEmpty() {
			return
		}
	}
	a[name] = value
}

// unix returns a time in the network's format.
func unix(t time.Time) int64 {
	if t.IsZero() {
		t = time.Now()
	}
	return t.Unix()
}

func joined(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}
