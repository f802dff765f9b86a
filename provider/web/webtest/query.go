package webtest

import (
	"time"

	"go.mau.fi/whatsmeow/types"
)

// query answers an <iq> of a client, whose first child is given.
type query func(c *conn, n, child *node)

// queries are what a logged-in client can ask, by namespace, type and first
// child.
var queries = map[string]query{
	"passive set active":                      func(c *conn, n, _ *node) { c.result(n); c.activate() },
	"passive set passive":                     (*conn).passive,
	"encrypt get count":                       (*conn).countKeys,
	"encrypt set registration":                (*conn).takeKeys,
	"encrypt get key":                         (*conn).giveKeys,
	"usync get usync":                         (*conn).directory,
	"w:m set media_conn":                      (*conn).mediaHosts,
	"privacy get privacy":                     (*conn).privacy,
	"privacy set privacy":                     done,
	"privacy set tokens":                      done,
	"disappearing_mode set disappearing_mode": done,
	"blocklist get ":                          (*conn).blocklist,
	"blocklist set item":                      (*conn).blocklist,
	"w:profile:picture get picture":           notFound,
	"w:profile:picture set ":                  done,
	"w:profile:picture set picture":           func(c *conn, n, _ *node) { c.result(n, node{Tag: "picture", Attrs: attrs{"id": c.s.newID()}}) },
	"w:biz get business_profile":              notFound,
	"w:sync:app:state set sync":               (*conn).syncState,
	"md set remove-companion-device":          (*conn).logOut,
	"md get passkey_request_options":          notFound,
}

func done(c *conn, n, _ *node)     { c.result(n) }
func notFound(c *conn, n, _ *node) { c.refuse(n, 404, "item-not-found") }

// handle is what the server does with a client's node.
func (c *conn) handle(n *node) {
	if n.Tag == "iq" {
		c.handleQuery(n)
		return
	}
	if c.loggedIn() == nil {
		return // acknowledgements while pairing, and telemetry
	}
	switch n.Tag {
	case "message":
		c.handleMessage(n)
	case "receipt":
		c.handleReceipt(n)
	case "ack":
		c.handleAck(n)
	case "presence":
		c.handlePresence(n)
	case "chatstate":
		c.handleTyping(n)
	case "call":
		c.handleCall(n)
	case "ib": // telemetry
	default:
		c.s.strange("a <%s>", n.Tag)
	}
}

func (c *conn) loggedIn() *Device {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.device
}

func (c *conn) handleQuery(n *node) {
	kind := str(n, "type")
	if kind == "result" || kind == "error" {
		c.answered(n)
		return
	}
	child := firstChild(n)
	key := str(n, "xmlns") + " " + kind + " " + child.Tag
	switch {
	case key == "w:p get ": // a ping
		c.result(n)
	case key == "md set link_code_companion_reg":
		c.linkCode(n, &child)
	case c.loggedIn() == nil:
		c.refuse(n, 401, "not-authorized")
	case str(n, "xmlns") == "w:g2":
		c.groupQuery(n, &child)
	case queries[key] != nil:
		queries[key](c, n, &child)
	default:
		c.s.strange("the query %q", key)
		c.refuse(n, 501, "feature-not-implemented")
	}
}

// ask sends a query and hands the client's answer to fn.
func (c *conn) ask(n node, fn func(*node)) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	id := c.s.id()
	c.waiters[id] = fn
	n.Tag, n.Attrs["from"], n.Attrs["id"] = "iq", types.ServerJID, id
	c.send(n)
}

func (c *conn) answered(n *node) {
	c.s.mu.Lock()
	fn := c.waiters[str(n, "id")]
	delete(c.waiters, str(n, "id"))
	c.s.mu.Unlock()
	if fn != nil {
		fn(n)
	}
}

func (c *conn) result(n *node, content ...node) { c.send(resultOf(n, content...)) }

func resultOf(n *node, content ...node) node {
	r := node{Tag: "iq", Attrs: attrs{"type": "result", "id": n.Attrs["id"], "from": types.ServerJID}}
	if to := jid(n, "to"); !to.IsEmpty() {
		r.Attrs["from"] = to
	}
	if len(content) > 0 {
		r.Content = content
	}
	return r
}

func (c *conn) refuse(n *node, code int, text string) {
	c.send(node{
		Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "error", "id": n.Attrs["id"]},
		Content: []node{{Tag: "error", Attrs: attrs{"code": code, "text": text}}},
	})
}

func (c *conn) passive(n, _ *node) {
	c.s.mu.Lock()
	c.active = false
	c.s.mu.Unlock()
	c.result(n)
}

func (c *conn) privacy(n, _ *node) {
	var categories []node
	for _, name := range []string{"readreceipts", "last", "online", "profile", "status", "groupadd", "calladd", "messages"} {
		value := "all"
		if name == "readreceipts" && c.device.phone.opts.NoReadReceipts {
			value = "none"
		}
		categories = append(categories, node{Tag: "category", Attrs: attrs{"name": name, "value": value}})
	}
	c.result(n, node{Tag: "privacy", Content: categories})
}

// blocklist answers that no one is blocked.
func (c *conn) blocklist(n, _ *node) {
	c.result(n, node{Tag: "list", Attrs: attrs{"dhash": "none"}})
}

// logOut unlinks the device as its client asks. Nothing is said of it to the
// client, which forgets the session by itself.
func (c *conn) logOut(n, _ *node) {
	c.leave(resultOf(n))
	c.device.unlink()
}

func (c *conn) countKeys(n, _ *node) {
	count := c.device.PreKeys()
	if count == 0 && !c.s.manyKeys {
		count = 1 // so that it uploads few
	}
	c.result(n, node{Tag: "count", Attrs: attrs{"value": count}})
}

// takeKeys takes the keys with which others begin to write to the device.
func (c *conn) takeKeys(n, registration *node) {
	c.s.mu.Lock()
	d := c.device
	list := n.GetChildByTag("list")
	d.keys = deviceKeys{
		registration: body(*registration), identity: bytesOf(n, "identity"), signed: n.GetChildByTag("skey"),
		once: append(d.keys.once, list.GetChildren()...),
	}
	d.changed.ring()
	c.s.mu.Unlock()
	c.result(n)
}

// giveKeys hands out devices' keys, each one-time key once.
func (c *conn) giveKeys(n, list *node) {
	c.s.mu.Lock()
	var users []node
	for _, asked := range list.GetChildren() {
		users = append(users, c.s.keysOf(jid(&asked, "jid")))
	}
	c.s.mu.Unlock()
	c.result(n, node{Tag: "list", Content: users})
}

// keysOf is a device's keys. s.mu is held.
func (s *Server) keysOf(j types.JID) node {
	d := s.device(j)
	if d == nil || d.keys.identity == nil {
		return node{Tag: "user", Attrs: attrs{"jid": j}, Content: []node{{Tag: "error", Attrs: attrs{"code": 404, "text": "item-not-found"}}}}
	}
	content := []node{
		{Tag: "registration", Content: d.keys.registration},
		{Tag: "type", Content: []byte{5}},
		{Tag: "identity", Content: d.keys.identity},
		d.keys.signed,
	}
	if once := d.takeOnce(); once.Tag != "" {
		content = append(content, once)
	}
	return node{Tag: "user", Attrs: attrs{"jid": j, "t": time.Now().Unix()}, Content: content}
}

// takeOnce hands out a one-time key: a phone always has one, a linked device
// those that it uploaded. s.mu is held.
func (d *Device) takeOnce() (key node) {
	if d.number == 0 {
		return d.phone.preKey()
	}
	if len(d.keys.once) > 0 {
		key, d.keys.once = d.keys.once[0], d.keys.once[1:]
	}
	return key
}
