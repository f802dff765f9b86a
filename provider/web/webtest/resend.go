package webtest

import (
	"context"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// resend answers a device that could not decrypt a message.
func (p *Phone) resend(n *node) {
	if err := p.sendAgain(p.s.over, n); err != nil {
		p.s.strange("%s cannot send %s again: %v", p.jid, str(n, "id"), err)
	}
}

func (p *Phone) sendAgain(ctx context.Context, n *node) error {
	from := jid(n, "from")
	if from.Server == types.GroupServer {
		from = jid(n, "participant")
	}
	p.s.mu.Lock()
	d, o := p.s.device(from), p.sent[str(n, "id")]
	p.s.mu.Unlock()
	if d == nil || o == nil {
		return fmt.Errorf("%s asks for a message that was not sent to it", from)
	}
	m, err := p.again(ctx, o, d)
	if err != nil {
		return err
	}
	plain, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	enc, err := p.sealAgain(ctx, d, plain, n)
	if err != nil {
		return err
	}
	p.s.deliveries(func(b *batch) {
		o.finish(d, &enc, o.Message)
		retry := n.GetChildByTag("retry")
		enc.Attrs["count"] = str(&retry, "count")
		again := o.node([]node{enc})
		again.Attrs["to"] = n.Attrs["from"]
		put(again.Attrs, "participant", jid(n, "participant"))
		if d.phone == p && o.group == nil {
			again.Attrs["recipient"] = o.To
		}
		b.message(p.self, again)
	})
	return nil
}

// again is the message as the device gets it alone: with the group's key, or as
// the copy of an own device.
func (p *Phone) again(ctx context.Context, o *outgoing, d *Device) (*waE2E.Message, error) {
	switch {
	case o.group != nil:
		key, err := p.groupKeyMessage(ctx, o.group)
		if err != nil {
			return nil, err
		}
		m := proto.CloneOf(o.Message)
		m.SenderKeyDistributionMessage = key.SenderKeyDistributionMessage
		return m, nil
	case d.phone == p:
		return o.ownCopy(), nil
	}
	return o.Message, nil
}

// sealAgain encrypts for a device that may have brought new keys.
func (p *Phone) sealAgain(ctx context.Context, d *Device, plain []byte, n *node) (node, error) {
	if !has(n, "keys") {
		return p.seal(ctx, d, plain)
	}
	keys := n.GetChildByTag("keys")
	b, err := bundle(d.number, bytesOf(n, "registration"), bytesOf(&keys, "identity"), keys.GetChildByTag("skey"), keys.GetChildByTag("key"))
	if err != nil {
		return node{}, err
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.encrypt(ctx, d.LID(), plain, b)
}
