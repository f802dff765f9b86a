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

// str is an attribute as text, "" when it is absent.
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

// jid is an attribute that names a person, or empty.
func jid(n *node, name string) types.JID {
	j, _ := n.Attrs[name].(types.JID)
	return j
}

// body is the node's bytes, nil when it has children or nothing.
func body(n node) []byte {
	b, _ := n.Content.([]byte)
	return b
}

// bytesOf is the bytes of the descendant.
func bytesOf(n *node, path ...string) []byte { return body(n.GetChildByTag(path...)) }

// has says whether there is such a descendant.
func has(n *node, path ...string) bool {
	_, ok := n.GetOptionalChildByTag(path...)
	return ok
}

// firstChild is the node's first child, or an empty node.
func firstChild(n *node) node {
	if children := n.GetChildren(); len(children) > 0 {
		return children[0]
	}
	return node{}
}

// with returns the node with one more attribute; the original keeps its own.
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

// unix is a time in the network's form.
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
