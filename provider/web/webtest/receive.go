package webtest

import (
	"errors"
	"time"

	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

var errSpoilt = errors.New("the test made it undecryptable")

// drain handles what is queued for the phone, in order. When another goroutine
// is at it already, that one handles the new as well.
func (p *Phone) drain() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if p.draining {
		return
	}
	p.draining = true
	for p.online && len(p.self.queue) > 0 {
		n := p.self.queue[0].node
		p.self.queue = p.self.queue[1:]
		p.s.mu.Unlock()
		p.handle(&n)
		p.s.mu.Lock()
	}
	p.draining = false
}

// handle is what the phone does with what the server sends it.
func (p *Phone) handle(n *node) {
	switch n.Tag {
	case "message":
		p.handleMessage(n)
	case "receipt":
		p.handleReceipt(n)
	case "chatstate":
		p.handleTyping(n)
	case "call":
		p.handleCall(n)
	}
}

func (p *Phone) handleMessage(n *node) {
	from := jid(n, "from")
	if from.Server == types.GroupServer {
		from = jid(n, "participant")
	}
	content, err := p.open(n, from)
	retries := 0
	p.s.mu.Lock()
	m := p.message(str(n, "id"), from)
	switch {
	case errors.Is(err, signalerror.ErrOldCounter), errors.Is(err, signalerror.ErrNoOneTimeKeyFound) && m.Content != nil:
		m.Copies++
	case err != nil:
		m.Retries++
		retries = m.Retries
	case m.Copies > 0:
		m.Copies++
	default:
		m.fill(p, n, content)
		p.untaken = append(p.untaken, m)
	}
	p.changed.ring()
	p.s.mu.Unlock()
	if retries > 0 {
		p.askAgain(n, retries)
		return
	}
	p.confirm(n, m.FromMe)
	if m.Peer && m.Copies == 1 {
		p.handlePeer(m)
	}
}

// fill completes the record of a message with what it says. s.mu is held.
func (m *Message) fill(p *Phone, n *node, content *waE2E.Message) {
	m.Copies, m.Content = 1, content
	m.Peer = str(n, "category") == "peer"
	m.FromMe = m.From.User == p.jid.User || m.From.User == p.lid.User
	m.Got = time.Now()
	m.At = n.AttrGetter().UnixTime("t")
	m.Chat = jid(n, "from").ToNonAD()
	if sent := content.GetDeviceSentMessage(); sent != nil {
		m.Content = sent.GetMessage()
		m.Chat, _ = types.ParseJID(sent.GetDestinationJID())
	}
}

// open decrypts a message. A key for the group may come beside what is said.
func (p *Phone) open(n *node, from types.JID) (*waE2E.Message, error) {
	p.s.mu.Lock()
	spoilt := p.undecryptable > 0
	if spoilt {
		p.undecryptable--
	}
	address := p.s.signalAddress(from)
	p.s.mu.Unlock()
	if spoilt {
		return nil, errSpoilt
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	content := &waE2E.Message{}
	group := jid(n, "from")
	for _, enc := range n.GetChildrenByTag("enc") {
		plain, err := p.decrypt(p.s.over, address, group, &enc)
		if err != nil {
			return nil, err
		}
		content = &waE2E.Message{}
		if err := proto.Unmarshal(plain, content); err != nil {
			return nil, err
		}
		if key := content.GetSenderKeyDistributionMessage(); key != nil {
			if err := p.learnGroupKey(p.s.over, group, address, key.GetAxolotlSenderKeyDistributionMessage()); err != nil {
				return nil, err
			}
		}
	}
	return content, nil
}

// signalAddress is the address under which keys are kept: by LID where there
// is one. s.mu is held.
func (s *Server) signalAddress(j types.JID) types.JID {
	if p := s.phone(j); p != nil {
		return p.form(p.lid, j.Device)
	}
	return j
}

// confirm says that the phone has a message.
func (p *Phone) confirm(n *node, own bool) {
	a := answerTo(n)
	if own {
		a["type"] = string(types.ReceiptTypeSender)
	}
	p.s.deliveries(func(b *batch) { b.receipt(p.self, &node{Tag: "receipt", Attrs: a}) })
}

// askAgain asks for a message that could not be decrypted. From the second time
// on it brings new keys.
func (p *Phone) askAgain(n *node, count int) {
	a := answerTo(n)
	a["type"] = string(types.ReceiptTypeRetry)
	p.s.mu.Lock()
	keys := p.self.keys
	p.s.mu.Unlock()
	content := []node{
		{Tag: "retry", Attrs: attrs{"count": count, "id": n.Attrs["id"], "t": n.Attrs["t"], "v": 1}},
		{Tag: "registration", Content: keys.registration},
	}
	if count > 1 {
		content = append(content, node{Tag: "keys", Content: []node{
			{Tag: "type", Content: []byte{5}}, {Tag: "identity", Content: keys.identity}, p.preKey(), keys.signed,
		}})
	}
	p.s.deliveries(func(b *batch) { b.receipt(p.self, &node{Tag: "receipt", Attrs: a, Content: content}) })
}

// answerTo are the attributes of a receipt for a message.
func answerTo(n *node) attrs {
	a := attrs{"id": n.Attrs["id"], "to": n.Attrs["from"], "t": time.Now().Unix()}
	put(a, "participant", jid(n, "participant"))
	put(a, "recipient", jid(n, "recipient"))
	return a
}
