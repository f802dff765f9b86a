package webtest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/libsignal/ecc"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waCert"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

// stream is the encrypted stream of a websocket: the Noise handshake, frames, and
// the nodes in them.
type stream struct {
	s       *Server
	ws      *websocket.Conn
	payload *waWa6.ClientPayload // the client's login or pairing data
	noise   [32]byte             // the client's static key

	in     sealer // of the reader
	unread []byte // of the reader: bytes received after the last frame
	out    sealer // of the writer
}

// handshake reads the stream's header and agrees on keys with Noise XX. The
// client's last message carries its payload.
func (st *stream) handshake(ctx context.Context) error {
	header, err := st.take(ctx, 4)
	if err != nil {
		return err
	}
	if header[0] != 'W' || header[1] != 'A' {
		return errors.New("the stream does not start with WA")
	}
	n, err := newNoise(header)
	if err != nil {
		return err
	}
	own := keys.NewKeyPair()
	if err := st.hello(ctx, n, own); err != nil {
		return err
	}
	return st.finish(ctx, n, own)
}

func (st *stream) hello(ctx context.Context, n *noise, own *keys.KeyPair) error {
	hello, err := st.readHandshake(ctx)
	if err != nil {
		return err
	}
	theirs := hello.GetClientHello().GetEphemeral()
	n.mix(theirs)
	n.mix(own.Pub[:])
	if err := n.agree(own.Priv[:], theirs); err != nil {
		return err
	}
	static := n.seal(st.s.static.Pub[:])
	if err := n.agree(st.s.static.Priv[:], theirs); err != nil {
		return err
	}
	answer, err := proto.Marshal(&waWa6.HandshakeMessage{ServerHello: &waWa6.HandshakeMessage_ServerHello{
		Ephemeral: own.Pub[:], Static: static, Payload: n.seal(st.s.chain),
	}})
	if err != nil {
		return err
	}
	return st.writeFrame(ctx, answer)
}

func (st *stream) finish(ctx context.Context, n *noise, own *keys.KeyPair) error {
	last, err := st.readHandshake(ctx)
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
	st.payload = &waWa6.ClientPayload{}
	if err := proto.Unmarshal(raw, st.payload); err != nil {
		return fmt.Errorf("reading the payload: %w", err)
	}
	st.noise = [32]byte(static)
	st.in, st.out, err = n.split()
	return err
}

func (st *stream) readHandshake(ctx context.Context) (*waWa6.HandshakeMessage, error) {
	frame, err := st.readFrame(ctx)
	if err != nil {
		return nil, err
	}
	var m waWa6.HandshakeMessage
	return &m, proto.Unmarshal(frame, &m)
}

// readFrame reads a length of three bytes and so many bytes. A frame may span
// several messages of the websocket.
func (st *stream) readFrame(ctx context.Context) ([]byte, error) {
	size, err := st.take(ctx, 3)
	if err != nil {
		return nil, err
	}
	return st.take(ctx, int(size[0])<<16|int(size[1])<<8|int(size[2]))
}

func (st *stream) take(ctx context.Context, n int) ([]byte, error) {
	for len(st.unread) < n {
		_, data, err := st.ws.Read(ctx)
		if err != nil {
			return nil, err
		}
		st.unread = append(st.unread, data...)
	}
	taken := st.unread[:n:n]
	st.unread = st.unread[n:]
	return taken, nil
}

func (st *stream) writeFrame(ctx context.Context, data []byte) error {
	frame := make([]byte, 3, 3+len(data))
	frame[0], frame[1], frame[2] = byte(len(data)>>16), byte(len(data)>>8), byte(len(data))
	return st.ws.Write(ctx, websocket.MessageBinary, append(frame, data...))
}

func (st *stream) read(ctx context.Context) (*node, error) {
	frame, err := st.readFrame(ctx)
	if err != nil {
		return nil, err
	}
	plain, err := st.in.open(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("opening a frame: %w", err)
	}
	if plain, err = waBinary.Unpack(plain); err != nil {
		return nil, fmt.Errorf("unpacking a frame: %w", err)
	}
	n, err := waBinary.Unmarshal(plain)
	if err != nil {
		return nil, fmt.Errorf("reading a node: %w", err)
	}
	return n, nil
}

func (st *stream) writeNode(ctx context.Context, n *node) error {
	st.s.log.DebugContext(ctx, "sending", slog.String("tag", n.Tag), slog.String("type", str(n, "type")), slog.String("id", str(n, "id")))
	plain, err := waBinary.Marshal(*n)
	if err != nil {
		st.s.unsupported("node %s cannot be sent: %v", n.Tag, err)
		return nil
	}
	return st.writeFrame(ctx, st.out.seal(plain, nil))
}

const noisePattern = "Noise_XX_25519_AESGCM_SHA256\x00\x00\x00\x00"

// noise is the server's half of the handshake. It shares no code with
// whatsmeow, so that each tests the other.
type noise struct {
	hash, chaining []byte
	key            sealer
}

// sealer encrypts or decrypts one direction of a connection with AES-GCM. The
// nonce is a counter.
type sealer struct {
	aead  cipher.AEAD
	count uint32
}

func newNoise(prologue []byte) (*noise, error) {
	key, err := newSealer([]byte(noisePattern))
	if err != nil {
		return nil, err
	}
	n := &noise{hash: []byte(noisePattern), chaining: []byte(noisePattern), key: key}
	n.mix(prologue)
	return n, nil
}

func newSealer(key []byte) (sealer, error) {
	aead, err := newGCM(key)
	return sealer{aead: aead}, err
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// nonce returns the next nonce: eight zero bytes and the counter.
func (s *sealer) nonce() []byte {
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint32(nonce[8:], s.count)
	s.count++
	return nonce
}

func (s *sealer) seal(plain, data []byte) []byte {
	return s.aead.Seal(nil, s.nonce(), plain, data)
}

func (s *sealer) open(sealed, data []byte) ([]byte, error) {
	return s.aead.Open(nil, s.nonce(), sealed, data)
}

// mix adds data that both sides have seen to the hash.
func (n *noise) mix(data []byte) {
	sum := sha256.New()
	sum.Write(n.hash)
	sum.Write(data)
	n.hash = sum.Sum(nil)
}

// agree mixes the secret that two keys share into the chaining key.
func (n *noise) agree(private, public []byte) error {
	shared, err := x25519(private, public)
	if err != nil {
		return err
	}
	chaining, key, err := n.derive(shared)
	if err != nil {
		return err
	}
	n.chaining = chaining
	n.key, err = newSealer(key)
	return err
}

func (n *noise) derive(secret []byte) (first, second []byte, err error) {
	out, err := hkdf.Key(sha256.New, secret, n.chaining, "", 64)
	if err != nil {
		return nil, nil, err
	}
	return out[:32], out[32:], nil
}

func (n *noise) seal(plain []byte) []byte {
	sealed := n.key.seal(plain, n.hash)
	n.mix(sealed)
	return sealed
}

func (n *noise) open(sealed []byte) ([]byte, error) {
	plain, err := n.key.open(sealed, n.hash)
	if err != nil {
		return nil, fmt.Errorf("opening a part of the handshake: %w", err)
	}
	n.mix(sealed)
	return plain, nil
}

// split ends the handshake. It returns the keys for what the client writes and
// what it reads.
func (n *noise) split() (in, out sealer, err error) {
	first, second, err := n.derive(nil)
	if err != nil {
		return in, out, err
	}
	if in, err = newSealer(first); err != nil {
		return in, out, err
	}
	out, err = newSealer(second)
	return in, out, err
}

func x25519(private, public []byte) ([]byte, error) {
	priv, err := ecdh.X25519().NewPrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}
	pub, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	return priv.ECDH(pub)
}

// signChain signs the server's key as the network does: the root signs an
// intermediate key, which signs the server's key.
func signChain(root, static *keys.KeyPair) ([]byte, error) {
	between := keys.NewKeyPair()
	first, err := certify(root, 1, 0, between.Pub[:])
	if err != nil {
		return nil, err
	}
	leaf, err := certify(between, 2, 1, static.Pub[:])
	if err != nil {
		return nil, err
	}
	return proto.Marshal(&waCert.CertChain{Intermediate: first, Leaf: leaf})
}

func certify(signer *keys.KeyPair, serial, issuer uint32, key []byte) (*waCert.CertChain_NoiseCertificate, error) {
	now := time.Now()
	details, err := proto.Marshal(&waCert.CertChain_NoiseCertificate_Details{
		Serial: &serial, IssuerSerial: &issuer, Key: key,
		NotBefore: proto.Uint64(uint64(now.Add(-lifetime).Unix())),
		NotAfter:  proto.Uint64(uint64(now.Add(lifetime).Unix())),
	})
	if err != nil {
		return nil, err
	}
	return &waCert.CertChain_NoiseCertificate{Details: details, Signature: sign(signer, details)}, nil
}

func sign(signer *keys.KeyPair, data []byte) []byte {
	signature := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*signer.Priv), data)
	return signature[:]
}
