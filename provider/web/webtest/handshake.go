package webtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/coder/websocket"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

// handshake reads the stream's header and agrees on keys: Noise XX, where the
// client's last word carries its payload.
func (c *conn) handshake(ctx context.Context) error {
	header, err := c.take(ctx, 4)
	if err != nil {
		return err
	}
	if header[0] != 'W' || header[1] != 'A' {
		return errors.New("the stream does not begin with WA")
	}
	n, err := newNoise(header)
	if err != nil {
		return err
	}
	own := keys.NewKeyPair()
	if err := c.hello(ctx, n, own); err != nil {
		return err
	}
	return c.finish(ctx, n, own)
}

func (c *conn) hello(ctx context.Context, n *noise, own *keys.KeyPair) error {
	hello, err := c.readHandshake(ctx)
	if err != nil {
		return err
	}
	theirs := hello.GetClientHello().GetEphemeral()
	n.mix(theirs)
	n.mix(own.Pub[:])
	if err := n.agree(own.Priv[:], theirs); err != nil {
		return err
	}
	static := n.seal(c.s.static.Pub[:])
	if err := n.agree(c.s.static.Priv[:], theirs); err != nil {
		return err
	}
	answer, err := proto.Marshal(&waWa6.HandshakeMessage{ServerHello: &waWa6.HandshakeMessage_ServerHello{
		Ephemeral: own.Pub[:], Static: static, Payload: n.seal(c.s.chain),
	}})
	if err != nil {
		return err
	}
	return c.writeFrame(ctx, answer)
}

func (c *conn) finish(ctx context.Context, n *noise, own *keys.KeyPair) error {
	last, err := c.readHandshake(ctx)
	if err != nil {
		return err
	}
	static, err := n.open(last.GetClientFinish().GetStatic())
	if err != nil {
		return err
	}
	if err := n.agree(own.Priv[:], static); err != nil {
		return err
	}
	raw, err := n.open(last.GetClientFinish().GetPayload())
	if err != nil {
		return err
	}
	c.payload = &waWa6.ClientPayload{}
	if err := proto.Unmarshal(raw, c.payload); err != nil {
		return fmt.Errorf("reading the payload: %w", err)
	}
	c.noise = [32]byte(static)
	c.in, c.out, err = n.split()
	return err
}

func (c *conn) readHandshake(ctx context.Context) (*waWa6.HandshakeMessage, error) {
	frame, err := c.readFrame(ctx)
	if err != nil {
		return nil, err
	}
	var m waWa6.HandshakeMessage
	return &m, proto.Unmarshal(frame, &m)
}

// readFrame reads a length of three bytes and what it announces. Frames and
// the websocket's messages need not begin together.
func (c *conn) readFrame(ctx context.Context) ([]byte, error) {
	size, err := c.take(ctx, 3)
	if err != nil {
		return nil, err
	}
	return c.take(ctx, int(size[0])<<16|int(size[1])<<8|int(size[2]))
}

func (c *conn) take(ctx context.Context, n int) ([]byte, error) {
	for len(c.unread) < n {
		_, data, err := c.ws.Read(ctx)
		if err != nil {
			return nil, err
		}
		c.unread = append(c.unread, data...)
	}
	taken := c.unread[:n:n]
	c.unread = c.unread[n:]
	return taken, nil
}

func (c *conn) writeFrame(ctx context.Context, data []byte) error {
	frame := make([]byte, 3, 3+len(data))
	frame[0], frame[1], frame[2] = byte(len(data)>>16), byte(len(data)>>8), byte(len(data))
	return c.ws.Write(ctx, websocket.MessageBinary, append(frame, data...))
}
