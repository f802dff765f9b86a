package webtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waServerSync"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	waLog "go.mau.fi/whatsmeow/util/log"
	"google.golang.org/protobuf/proto"
)

// collections are the app state of an account, such as its settings and contacts:
// encrypted patches by collection, of which the first is version 1. The server's
// lock guards them.
type collections map[appstate.WAPatchName][][]byte

// stateKeyID is the id of the only key with which a phone encrypts app state.
var stateKeyID = []byte{0, 0, 0, 0, 0, 1}

// ShareState sends a linked device the key of the account's app state. The client
// then fetches all of it.
func (p *Phone) ShareState(ctx context.Context, d *Device) (id string, err error) {
	key, err := p.stateKey(ctx)
	if err != nil {
		return "", err
	}
	return p.outbox.sendProtocol(ctx, d, &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_SHARE.Enum(),
		AppStateSyncKeyShare: &waE2E.AppStateSyncKeyShare{Keys: []*waE2E.AppStateSyncKey{{
			KeyID: &waE2E.AppStateSyncKeyId{KeyID: stateKeyID},
			KeyData: &waE2E.AppStateSyncKeyData{
				KeyData: key.Data, Timestamp: &key.Timestamp,
				Fingerprint: &waE2E.AppStateSyncKeyFingerprint{RawID: proto.Uint32(1), CurrentIndex: proto.Uint32(0)},
			},
		}}},
	})
}

// stateKey returns the key of the app state, which it creates at first use.
func (v *vault) stateKey(ctx context.Context) (*store.AppStateSyncKey, error) {
	v.lock.Lock()
	defer v.lock.Unlock()
	key, err := v.memory.GetAppStateSyncKey(ctx, stateKeyID)
	if err != nil || key != nil {
		return key, err
	}
	key = &store.AppStateSyncKey{Data: make([]byte, 32), Timestamp: time.Now().UnixMilli()}
	_, _ = rand.Read(key.Data) // never fails
	return key, v.memory.PutAppStateSyncKey(ctx, stateKeyID, *key)
}

// SetState changes the account's app state, such as its push name, a contact or
// whether a chat is muted, and notifies the linked devices. The Build functions of
// whatsmeow's appstate make changes.
func (p *Phone) SetState(ctx context.Context, change appstate.PatchInfo) error {
	if _, err := p.stateKey(ctx); err != nil {
		return err
	}
	patch, err := p.sealState(ctx, change)
	if err != nil {
		return fmt.Errorf("webtest: app state %s: %w", change.Type, err)
	}
	p.s.deliveries(func(b *batch) { b.patched(p, change.Type, patch, nil) })
	return nil
}

// sealState encrypts a patch for the next version, and stores it as applied.
func (v *vault) sealState(ctx context.Context, change appstate.PatchInfo) ([]byte, error) {
	v.lock.Lock()
	defer v.lock.Unlock()
	number, hash, err := v.memory.GetAppStateVersion(ctx, string(change.Type))
	if err != nil {
		return nil, err
	}
	state := appstate.HashState{Version: number, Hash: hash}
	processor := appstate.NewProcessor(v.signal, waLog.Noop)
	raw, err := processor.EncodePatch(ctx, stateKeyID, state, change)
	if err != nil {
		return nil, err
	}
	patch, sealed, err := numbered(raw, number+1)
	if err != nil {
		return nil, err
	}
	list := &appstate.PatchList{Name: change.Type, Patches: []*waServerSync.SyncdPatch{patch}}
	_, _, err = processor.DecodePatches(ctx, list, state, true)
	return sealed, err
}

// numbered sets the version of a patch.
func numbered(raw []byte, number uint64) (*waServerSync.SyncdPatch, []byte, error) {
	patch := &waServerSync.SyncdPatch{}
	if err := proto.Unmarshal(raw, patch); err != nil {
		return nil, nil, err
	}
	patch.Version = &waServerSync.SyncdVersion{Version: &number}
	sealed, err := proto.Marshal(patch)
	return patch, sealed, err
}

// patched stores a patch, and notifies the devices of the account except the one
// that made it.
func (b *batch) patched(p *Phone, name appstate.WAPatchName, patch []byte, by *Device) {
	if p.state == nil {
		p.state = collections{}
	}
	p.state[name] = append(p.state[name], patch)
	for _, d := range p.companions() {
		if d == by {
			continue
		}
		b.deliver(d, node{
			Tag:     "notification",
			Attrs:   attrs{"from": p.jid, "type": "server_sync", "id": b.s.id(), "t": time.Now().Unix()},
			Content: []node{{Tag: "collection", Attrs: attrs{"name": string(name), "version": len(p.state[name])}}},
		})
	}
}

// syncState answers with the patches that a client does not have, and stores the
// client's own.
func (c *conn) syncState(n, sync *node) {
	c.s.deliveries(func(b *batch) {
		var answers []node
		for _, collection := range sync.GetChildrenByTag("collection") {
			answers = append(answers, c.syncCollection(b, &collection))
		}
		c.result(n, node{Tag: "sync", Content: answers})
	})
}

func (c *conn) syncCollection(b *batch, asked *node) node {
	p, name := c.device.phone, appstate.WAPatchName(str(asked, "name"))
	have, _ := strconv.Atoi(str(asked, "version"))
	known := len(p.state[name])
	a := attrs{"name": string(name), "version": known}
	if own := bytesOf(asked, "patch"); own != nil && have == known {
		if _, sealed, err := numbered(own, uint64(known)+1); err == nil {
			b.patched(p, name, sealed, c.device)
			return node{Tag: "collection", Attrs: attrs{"name": string(name), "version": known + 1}}
		}
	} else if own != nil {
		a["type"] = "error"
	}
	var patches []node
	for at := max(have, 0); at < known; at++ {
		patches = append(patches, node{Tag: "patch", Content: p.state[name][at]})
	}
	content := []node{{Tag: "patches", Content: patches}}
	if a["type"] != nil {
		content = append(content, node{Tag: "error", Attrs: attrs{"code": 409, "text": "conflict"}})
	}
	return node{Tag: "collection", Attrs: a, Content: content}
}

// NotifyReachOut notifies the client that the account may not write to new
// contacts until a time; the zero time lifts the restriction.
func (d *Device) NotifyReachOut(until time.Time) {
	about := `{"data":{"xwa2_notify_account_reachout_timelock":{"is_active":false}}}`
	if !until.IsZero() {
		about = fmt.Sprintf(
			`{"data":{"xwa2_notify_account_reachout_timelock":{"is_active":true,"enforcement_type":"REACHOUT_TIMELOCK","time_enforcement_ends":"%d"}}}`,
			until.Unix())
	}
	d.s.deliveries(func(b *batch) {
		b.deliver(d, node{
			Tag:     "notification",
			Attrs:   attrs{"from": types.ServerJID, "type": "mex", "id": b.s.id(), "t": time.Now().Unix()},
			Content: []node{{Tag: "update", Attrs: attrs{"op_name": "NotificationAccountReachoutTimelock"}, Content: []byte(about)}},
		})
	})
}
