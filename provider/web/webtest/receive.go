package webtest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

var errUndecryptable = errors.New("the test made it undecryptable")

// phoneInbox is what a phone has received. The server's lock guards it.
type phoneInbox struct {
	p             *Phone
	draining      bool
	undecryptable int // so many of the next messages cannot be decrypted
	messages      []*Message
	byID          map[messageKey]*Message
	untaken       []*Message // not returned by Await yet
	receipts      []Receipt
	reported      map[receiptKey]Receipt // the first of each type
	typings       []Typing
}

// drain handles what is queued for the phone, in order. If another goroutine
// already does, that goroutine also handles the new nodes.
func (in *phoneInbox) drain() {
	in.p.s.mu.Lock()
	defer in.p.s.mu.Unlock()
	if in.draining {
		return
	}
	in.draining = true
	for in.p.online && len(in.p.self.deliveries.queue) > 0 {
		n := in.p.self.deliveries.queue[0].node
		in.p.self.deliveries.queue = in.p.self.deliveries.queue[1:]
		in.p.s.mu.Unlock()
		in.handle(&n)
		in.p.s.mu.Lock()
	}
	in.draining = false
}

// handle handles a node that the phone received.
func (in *phoneInbox) handle(n *node) {
	switch n.Tag {
	case "message":
		in.handleMessage(n)
	case "receipt":
		in.handleReceipt(n)
	case "chatstate":
		in.handleTyping(n)
	case "call":
		in.p.calls.handle(n)
	}
}

func (in *phoneInbox) handleMessage(n *node) {
	from := jid(n, "from")
	if from.Server == types.GroupServer {
		from = jid(n, "participant")
	}
	content, err := in.open(n, from)
	retries := 0
	in.p.s.mu.Lock()
	m := in.message(str(n, "id"), from)
	switch {
	case errors.Is(err, signalerror.ErrOldCounter), errors.Is(err, signalerror.ErrNoOneTimeKeyFound) && m.Content != nil:
		m.Copies++
	case err != nil:
		m.Retries++
		retries = m.Retries
	case m.Copies > 0:
		m.Copies++
	default:
		m.fill(in.p, n, content)
		in.untaken = append(in.untaken, m)
	}
	in.p.changed.ring()
	in.p.s.mu.Unlock()
	if retries > 0 {
		in.askAgain(n, retries)
		return
	}
	in.confirm(n, m.FromMe)
	if m.Peer && m.Copies == 1 {
		in.p.requests.handlePeer(m)
	}
}

// fill sets the content of a message's record. s.mu is held.
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

// open decrypts a message, which may also contain a key for the group.
func (in *phoneInbox) open(n *node, from types.JID) (*waE2E.Message, error) {
	in.p.s.mu.Lock()
	damaged := in.undecryptable > 0
	if damaged {
		in.undecryptable--
	}
	address := in.p.s.signalAddress(from)
	in.p.s.mu.Unlock()
	if damaged {
		return nil, errUndecryptable
	}
	in.p.lock.Lock()
	defer in.p.lock.Unlock()
	content := &waE2E.Message{}
	group := jid(n, "from")
	for _, enc := range n.GetChildrenByTag("enc") {
		plain, err := in.p.decrypt(in.p.s.over, address, group, &enc)
		if err != nil {
			return nil, err
		}
		content = &waE2E.Message{}
		if err := proto.Unmarshal(plain, content); err != nil {
			return nil, err
		}
		if key := content.GetSenderKeyDistributionMessage(); key != nil {
			if err := in.p.learnGroupKey(in.p.s.over, group, address, key.GetAxolotlSenderKeyDistributionMessage()); err != nil {
				return nil, err
			}
		}
	}
	return content, nil
}

// signalAddress returns the address under which keys are stored: the LID if
// there is one. s.mu is held.
func (s *Server) signalAddress(j types.JID) types.JID {
	if p := s.phone(j); p != nil {
		return p.form(p.lid, j.Device)
	}
	return j
}

// confirm acknowledges a message.
func (in *phoneInbox) confirm(n *node, own bool) {
	a := answerTo(n)
	if own {
		a["type"] = string(types.ReceiptTypeSender)
	}
	in.p.s.deliveries(func(b *batch) { b.receipt(in.p.self, &node{Tag: "receipt", Attrs: a}) })
}

// askAgain requests a message that could not be decrypted. From the second
// request on, it sends new keys.
func (in *phoneInbox) askAgain(n *node, count int) {
	a := answerTo(n)
	a["type"] = string(types.ReceiptTypeRetry)
	in.p.s.mu.Lock()
	keys := in.p.self.keys
	in.p.s.mu.Unlock()
	content := []node{
		{Tag: "retry", Attrs: attrs{"count": count, "id": n.Attrs["id"], "t": n.Attrs["t"], "v": 1}},
		{Tag: "registration", Content: keys.registration},
	}
	if count > 1 {
		content = append(content, node{Tag: "keys", Content: []node{
			{Tag: "type", Content: []byte{5}}, {Tag: "identity", Content: keys.identity}, in.p.preKey(), keys.signed,
		}})
	}
	in.p.s.deliveries(func(b *batch) { b.receipt(in.p.self, &node{Tag: "receipt", Attrs: a, Content: content}) })
}

// answerTo returns the attributes of a receipt for a message.
func answerTo(n *node) attrs {
	a := attrs{"id": n.Attrs["id"], "to": n.Attrs["from"], "t": time.Now().Unix()}
	put(a, "participant", jid(n, "participant"))
	put(a, "recipient", jid(n, "recipient"))
	return a
}

// resend answers a device that could not decrypt a message.
func (ob *phoneOutbox) resend(n *node) {
	if err := ob.sendAgain(ob.p.s.over, n); err != nil {
		ob.p.s.unsupported("%s cannot send %s again: %v", ob.p.jid, str(n, "id"), err)
	}
}

func (ob *phoneOutbox) sendAgain(ctx context.Context, n *node) error {
	from := jid(n, "from")
	if from.Server == types.GroupServer {
		from = jid(n, "participant")
	}
	ob.p.s.mu.Lock()
	d, o := ob.p.s.device(from), ob.sent[str(n, "id")]
	ob.p.s.mu.Unlock()
	if d == nil || o == nil {
		return fmt.Errorf("%s requests a message that was not sent to it", from)
	}
	m, err := ob.again(ctx, o, d)
	if err != nil {
		return err
	}
	plain, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	enc, err := ob.sealAgain(ctx, d, plain, n)
	if err != nil {
		return err
	}
	ob.p.s.deliveries(func(b *batch) {
		o.finish(d, &enc, o.Message)
		retry := n.GetChildByTag("retry")
		enc.Attrs["count"] = str(&retry, "count")
		again := o.node([]node{enc})
		again.Attrs["to"] = n.Attrs["from"]
		put(again.Attrs, "participant", jid(n, "participant"))
		if d.phone == ob.p && o.group == nil {
			again.Attrs["recipient"] = o.To
		}
		b.message(ob.p.self, again)
	})
	return nil
}

// again returns the message for one device: with the group's key, or as the
// copy for the phone's own device.
func (ob *phoneOutbox) again(ctx context.Context, o *outgoing, d *Device) (*waE2E.Message, error) {
	switch {
	case o.group != nil:
		key, err := ob.p.groupKeyMessage(ctx, o.group, ob.p.lid)
		if err != nil {
			return nil, err
		}
		m := proto.CloneOf(o.Message)
		m.SenderKeyDistributionMessage = key.SenderKeyDistributionMessage
		return m, nil
	case d.phone == ob.p:
		return o.ownCopy(), nil
	}
	return o.Message, nil
}

// sealAgain encrypts for a device that may have sent new keys.
func (ob *phoneOutbox) sealAgain(ctx context.Context, d *Device, plain []byte, n *node) (node, error) {
	if !has(n, "keys") {
		return ob.seal(ctx, d, plain)
	}
	keys := n.GetChildByTag("keys")
	b, err := bundle(d.number, bytesOf(n, "registration"), bytesOf(&keys, "identity"), keys.GetChildByTag("skey"), keys.GetChildByTag("key"))
	if err != nil {
		return node{}, err
	}
	ob.p.lock.Lock()
	defer ob.p.lock.Unlock()
	return ob.p.encrypt(ctx, d.LID(), plain, b)
}
