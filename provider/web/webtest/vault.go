package webtest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/groups"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/util/optional"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
)

var serializer = store.SignalProtobufSerializer

// vault holds a phone's keys and encrypts and decrypts with them.
type vault struct {
	lock   sync.Mutex // one message at a time
	memory *memory
	signal *store.Device
}

// deviceKeys are what others need to start a session with a device.
type deviceKeys struct {
	registration []byte
	identity     []byte
	signed       node   // <skey>
	once         []node // <key>, each used once
}

func newVault() *vault {
	v := &vault{memory: newMemory()}
	v.renew()
	return v
}

// renew makes new keys and removes all sessions. v.lock and the server's lock
// are held; either is enough to read the keys.
func (v *vault) renew() {
	own := keys.NewKeyPair()
	v.memory.clear()
	v.signal = &store.Device{
		IdentityKey: own, SignedPreKey: own.CreateSignedPreKey(1),
		RegistrationID: uint32(binary.BigEndian.Uint16(own.Pub[:]))>>2 + 1, // 14 random bits
	}
	v.signal.SetAllStores(v.memory)
}

// public returns the public keys. One-time keys are made when another device
// requests one: see [vault.preKey].
func (v *vault) public() deviceKeys {
	return deviceKeys{
		registration: binary.BigEndian.AppendUint32(nil, v.signal.RegistrationID),
		identity:     v.signal.IdentityKey.Pub[:],
		signed:       keyNode(v.signal.SignedPreKey),
	}
}

// identity returns the key of the account.
func (v *vault) identity() *keys.KeyPair {
	v.lock.Lock()
	defer v.lock.Unlock()
	return v.signal.IdentityKey
}

func (v *vault) preKey() node { return keyNode(v.memory.newPreKey()) }

// keyNode returns a pre-key in the network's format, with an id of three bytes.
func keyNode(k *keys.PreKey) node {
	parts := []node{
		{Tag: "id", Content: binary.BigEndian.AppendUint32(nil, k.KeyID)[1:]},
		{Tag: "value", Content: k.Pub[:]},
	}
	if k.Signature == nil {
		return node{Tag: "key", Content: parts}
	}
	return node{Tag: "skey", Content: append(parts, node{Tag: "signature", Content: k.Signature[:]})}
}

// encrypt encrypts for a device. bundle has the keys of a device without a
// session; nil if there is one.
func (v *vault) encrypt(ctx context.Context, to types.JID, plain []byte, bundle *prekey.Bundle) (node, error) {
	address := to.SignalAddress()
	builder := session.NewBuilderFromSignal(v.signal, address, serializer)
	if bundle != nil {
		if err := builder.ProcessBundle(ctx, bundle); err != nil {
			return node{}, fmt.Errorf("beginning a session with %s: %w", to, err)
		}
	}
	sealed, err := session.NewCipher(builder, address).Encrypt(ctx, pad(plain))
	if err != nil {
		return node{}, fmt.Errorf("encrypting for %s: %w", to, err)
	}
	kind := "msg"
	if sealed.Type() == protocol.PREKEY_TYPE {
		kind = "pkmsg"
	}
	return node{Tag: "enc", Attrs: attrs{"v": "2", "type": kind}, Content: sealed.Serialize()}, nil
}

func (v *vault) hasSession(ctx context.Context, with types.JID) bool {
	ok, _ := v.memory.HasSession(ctx, with.SignalAddress().String()) // never fails
	return ok
}

// decrypt decrypts an <enc> of a device; group is the group of the message, or
// empty.
func (v *vault) decrypt(ctx context.Context, from, group types.JID, enc *node) ([]byte, error) {
	address := from.SignalAddress()
	sealed := body(*enc)
	var plain []byte
	var err error
	switch kind := str(enc, "type"); kind {
	case "pkmsg":
		var m *protocol.PreKeySignalMessage
		if m, err = protocol.NewPreKeySignalMessageFromBytes(sealed, serializer.PreKeySignalMessage, serializer.SignalMessage); err == nil {
			plain, err = v.cipher(address).DecryptMessage(ctx, m)
		}
	case "msg":
		var m *protocol.SignalMessage
		if m, err = protocol.NewSignalMessageFromBytes(sealed, serializer.SignalMessage); err == nil {
			plain, err = v.cipher(address).Decrypt(ctx, m)
		}
	case "skmsg":
		var m *protocol.SenderKeyMessage
		if m, err = protocol.NewSenderKeyMessageFromBytes(sealed, serializer.SenderKeyMessage); err == nil {
			plain, err = v.groupCipher(group, address).Decrypt(ctx, m)
		}
	default:
		err = fmt.Errorf("unknown encryption %q", kind)
	}
	if err != nil {
		return nil, err
	}
	return unpad(plain)
}

func (v *vault) cipher(with *protocol.SignalAddress) *session.Cipher {
	return session.NewCipher(session.NewBuilderFromSignal(v.signal, with, serializer), with)
}

func (v *vault) groupCipher(group types.JID, sender *protocol.SignalAddress) *groups.GroupCipher {
	name := protocol.NewSenderKeyName(group.String(), sender)
	return groups.NewGroupCipher(groups.NewGroupSessionBuilder(v.signal, serializer), name, v.signal)
}

// groupKey returns the key with which others decrypt own's messages in the
// group.
func (v *vault) groupKey(ctx context.Context, group, own types.JID) ([]byte, error) {
	name := protocol.NewSenderKeyName(group.String(), own.SignalAddress())
	key, err := groups.NewGroupSessionBuilder(v.signal, serializer).Create(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("making the key for %s: %w", group, err)
	}
	return key.Serialize(), nil
}

// learnGroupKey stores a key that another phone's groupKey returned.
func (v *vault) learnGroupKey(ctx context.Context, group, sender types.JID, raw []byte) error {
	key, err := protocol.NewSenderKeyDistributionMessageFromBytes(raw, serializer.SenderKeyDistributionMessage)
	if err != nil {
		return fmt.Errorf("reading the key of %s: %w", sender, err)
	}
	name := protocol.NewSenderKeyName(group.String(), sender.SignalAddress())
	return groups.NewGroupSessionBuilder(v.signal, serializer).Process(ctx, name, key)
}

func (v *vault) encryptForGroup(ctx context.Context, group, own types.JID, plain []byte) (node, error) {
	sealed, err := v.groupCipher(group, own.SignalAddress()).Encrypt(ctx, pad(plain))
	if err != nil {
		return node{}, fmt.Errorf("encrypting for %s: %w", group, err)
	}
	return node{Tag: "enc", Attrs: attrs{"v": "2", "type": "skmsg"}, Content: sealed.SignedSerialize()}, nil
}

// bundle decodes the keys of a device.
func bundle(device uint16, registration, owner []byte, signed, once node) (*prekey.Bundle, error) {
	value, signature := bytesOf(&signed, "value"), bytesOf(&signed, "signature")
	if len(registration) != 4 || len(owner) != 32 || len(value) != 32 || len(signature) != 64 {
		return nil, errors.New("the device's keys are incomplete")
	}
	onceID, onceKey := optional.NewEmptyUint32(), ecc.ECPublicKeyable(nil)
	if v := bytesOf(&once, "value"); len(v) == 32 {
		onceID = optional.NewOptionalUint32(keyNumber(&once))
		onceKey = ecc.NewDjbECPublicKey([32]byte(v))
	}
	return prekey.NewBundle(
		binary.BigEndian.Uint32(registration), uint32(device), onceID, keyNumber(&signed), onceKey,
		ecc.NewDjbECPublicKey([32]byte(value)), [64]byte(signature), identity.NewKey(ecc.NewDjbECPublicKey([32]byte(owner))),
	), nil
}

func keyNumber(key *node) uint32 {
	var number uint32
	for _, b := range bytesOf(key, "id") {
		number = number<<8 | uint32(b)
	}
	return number
}

// pad adds 1 to 15 bytes, each of which is the number of added bytes. Real
// clients choose the number at random.
func pad(plain []byte) []byte {
	n := len(plain)%15 + 1
	padded := append(make([]byte, 0, len(plain)+n), plain...)
	for range n {
		padded = append(padded, byte(n))
	}
	return padded
}

func unpad(padded []byte) ([]byte, error) {
	if len(padded) == 0 || int(padded[len(padded)-1]) > len(padded) {
		return nil, errors.New("the padding is invalid")
	}
	return padded[:len(padded)-int(padded[len(padded)-1])], nil
}
