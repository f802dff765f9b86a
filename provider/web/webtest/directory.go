package webtest

import (
	"strings"

	"go.mau.fi/whatsmeow/types"
)

// directory answers who has an account, its other address, and its devices.
func (c *conn) directory(n, asked *node) {
	list, query := asked.GetChildByTag("list"), asked.GetChildByTag("query")
	c.s.mu.Lock()
	var users []node
	for _, user := range list.GetChildren() {
		users = append(users, c.directoryEntry(&user, query.GetChildren()))
	}
	c.s.mu.Unlock()
	c.result(n, node{
		Tag: "usync", Attrs: attrs{"sid": asked.Attrs["sid"], "mode": asked.Attrs["mode"]},
		Content: []node{{Tag: "result"}, {Tag: "list", Content: users}},
	})
}

// directoryEntry is what is asked of one account. s.mu is held.
func (c *conn) directoryEntry(asked *node, what []node) node {
	j := jid(asked, "jid")
	a := attrs{"jid": j}
	number := string(bytesOf(asked, "contact"))
	if number != "" { // a check of a number, which is answered with the LID
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
			content = append(content, node{Tag: "devices", Content: []node{{Tag: "device-list", Content: c.deviceList(p)}}})
		case "lid":
			if p != nil {
				content = append(content, node{Tag: "lid", Attrs: attrs{"val": p.lid}})
			}
		}
	}
	return node{Tag: "user", Attrs: a, Content: content}
}

// deviceList lists an account's devices, and remembers who knows them now.
func (c *conn) deviceList(p *Phone) []node {
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
