package webtest

import (
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// query answers an <iq> of a client. child is its first child.
type query func(c *conn, n, child *node)

// queries are the supported queries of a logged-in client, by namespace, type
// and first child.
var queries = map[string]query{
	"passive set active":                      func(c *conn, n, _ *node) { c.result(n); c.activate() },
	"passive set passive":                     passive,
	"encrypt get count":                       countKeys,
	"encrypt set registration":                takeKeys,
	"encrypt get key":                         giveKeys,
	"usync get usync":                         directory,
	"w:m set media_conn":                      mediaHosts,
	"privacy get privacy":                     privacy,
	"privacy set privacy":                     done,
	"privacy set tokens":                      done,
	"disappearing_mode set disappearing_mode": done,
	"blocklist get ":                          blocklist,
	"blocklist set item":                      blocklist,
	"w:profile:picture get picture":           notFound,
	"w:profile:picture set ":                  done,
	"w:profile:picture set picture":           func(c *conn, n, _ *node) { c.result(n, node{Tag: "picture", Attrs: attrs{"id": c.s.newID()}}) },
	"w:biz get business_profile":              notFound,
	"w:sync:app:state set sync":               (*conn).syncState,
	"md set remove-companion-device":          logOut,
	"md get passkey_request_options":          notFound,
}

func done(c *conn, n, _ *node)     { c.result(n) }
func notFound(c *conn, n, _ *node) { c.refuse(n, 404, "item-not-found") }

// handle handles a client's node.
func (c *conn) handle(n *node) {
	if n.Tag == "iq" {
		c.handleQuery(n)
		return
	}
	if c.loggedIn() == nil {
		return // acknowledgements during pairing, and telemetry
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
		c.s.unsupported("a <%s>", n.Tag)
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
	case c.loggedIn() == nil && c.linkPasskey(n, &child):
	case c.loggedIn() == nil:
		c.refuse(n, 401, "not-authorized")
	case str(n, "xmlns") == "w:g2":
		groupQuery(c, n, &child)
	case queries[key] != nil:
		queries[key](c, n, &child)
	default:
		c.s.unsupported("the query %q", key)
		c.refuse(n, 501, "feature-not-implemented")
	}
}

// ask sends a query and calls fn with the client's answer.
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

func passive(c *conn, n, _ *node) {
	c.s.mu.Lock()
	c.active = false
	c.s.mu.Unlock()
	c.result(n)
}

func privacy(c *conn, n, _ *node) {
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

// blocklist answers that no contact is blocked.
func blocklist(c *conn, n, _ *node) {
	c.result(n, node{Tag: "list", Attrs: attrs{"dhash": "none"}})
}

// logOut unlinks the device at the request of its client. It does not notify
// the client, which deletes the session by itself.
func logOut(c *conn, n, _ *node) {
	c.leave(resultOf(n))
	c.device.unlink()
}

func countKeys(c *conn, n, _ *node) {
	count := c.device.PreKeys()
	if count == 0 && !c.s.manyKeys {
		count = 1 // so that it uploads few keys
	}
	c.result(n, node{Tag: "count", Attrs: attrs{"value": count}})
}

// takeKeys stores the keys with which others start sessions with the device.
func takeKeys(c *conn, n, registration *node) {
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

// giveKeys returns the keys of devices, each one-time key once.
func giveKeys(c *conn, n, list *node) {
	c.s.mu.Lock()
	var users []node
	for _, asked := range list.GetChildren() {
		users = append(users, keysOf(c.s.device(jid(&asked, "jid")), jid(&asked, "jid")))
	}
	c.s.mu.Unlock()
	c.result(n, node{Tag: "list", Content: users})
}

// keysOf returns the keys of a device. s.mu is held.
func keysOf(d *Device, j types.JID) node {
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

// takeOnce returns a one-time key. A phone always has one, a linked device
// those that it has uploaded. s.mu is held.
func (d *Device) takeOnce() (key node) {
	if d.number == 0 {
		return d.phone.preKey()
	}
	if len(d.keys.once) > 0 {
		key, d.keys.once = d.keys.once[0], d.keys.once[1:]
	}
	return key
}

// directory answers which people have an account, with their other address and
// their devices.
func directory(c *conn, n, asked *node) {
	list, query := asked.GetChildByTag("list"), asked.GetChildByTag("query")
	c.s.mu.Lock()
	var users []node
	for _, user := range list.GetChildren() {
		users = append(users, directoryEntry(c, &user, query.GetChildren()))
	}
	c.s.mu.Unlock()
	c.result(n, node{
		Tag: "usync", Attrs: attrs{"sid": asked.Attrs["sid"], "mode": asked.Attrs["mode"]},
		Content: []node{{Tag: "result"}, {Tag: "list", Content: users}},
	})
}

// directoryEntry answers for one account. s.mu is held.
func directoryEntry(c *conn, asked *node, what []node) node {
	j := jid(asked, "jid")
	a := attrs{"jid": j}
	number := string(bytesOf(asked, "contact"))
	if number != "" { // a check of a number is answered with the LID
		bare, _, _ := strings.Cut(strings.TrimPrefix(number, "+"), "@")
		j = types.NewJID(bare, types.DefaultUserServer)
		a = attrs{"pn_jid": j}
	}
	p := c.s.phone(j)
	if number != "" && p != nil {
		a["jid"] = p.lid
	}
	var content []node
	for _, item := range what {
		switch item.Tag {
		case "contact":
			is := "out"
			if p != nil {
				is = "in"
			}
			content = append(content, node{Tag: "contact", Attrs: attrs{"type": is}, Content: []byte(number)})
		case "devices":
			content = append(content, node{Tag: "devices", Content: []node{{Tag: "device-list", Content: deviceList(c, p)}}})
		case "lid":
			if p != nil {
				content = append(content, node{Tag: "lid", Attrs: attrs{"val": p.lid}})
			}
		}
	}
	return node{Tag: "user", Attrs: a, Content: content}
}

// deviceList lists an account's devices, and records that the client knows them
// now.
func deviceList(c *conn, p *Phone) []node {
	if p == nil {
		return nil
	}
	p.watchers[c.device] = struct{}{}
	var list []node
	for _, d := range p.everyDevice() {
		list = append(list, node{Tag: "device", Attrs: attrs{"id": int(d.number), "key-index": int(d.number)}})
	}
	return list
}
