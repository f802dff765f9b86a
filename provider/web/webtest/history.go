package webtest

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"slices"
	"strconv"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waLidMigrationSyncPayload"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// SendHistory sends a linked device a piece of history, either inside of the
// message or as a file on the media host.
func (p *Phone) SendHistory(ctx context.Context, d *Device, history *waHistorySync.HistorySync, inline bool) (id string, err error) {
	packed, err := deflate(history)
	if err != nil {
		return "", err
	}
	n := &waE2E.HistorySyncNotification{
		SyncType: waE2E.HistorySyncType(history.GetSyncType()).Enum(), ChunkOrder: history.ChunkOrder, Progress: history.Progress,
	}
	if inline {
		n.InitialHistBootstrapInlinePayload = packed
	} else {
		up, err := p.Upload(packed, whatsmeow.MediaHistory)
		if err != nil {
			return "", err
		}
		n.MediaKey, n.FileEncSHA256, n.FileSHA256 = up.MediaKey, up.FileEncSHA256, up.FileSHA256
		n.DirectPath, n.FileLength = &up.DirectPath, &up.FileLength
	}
	return p.outbox.sendProtocol(ctx, d, &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(), HistorySyncNotification: n,
	})
}

// ShareMappings sends a linked device the LIDs of phone numbers.
func (p *Phone) ShareMappings(ctx context.Context, d *Device, phones ...*Phone) (id string, err error) {
	var list []*waLidMigrationSyncPayload.LIDMigrationMapping
	for _, other := range phones {
		number, err := strconv.ParseUint(other.jid.User, 10, 64)
		if err != nil {
			return "", fmt.Errorf("webtest: number of %s: %w", other.jid, err)
		}
		lid, err := strconv.ParseUint(other.lid.User, 10, 64)
		if err != nil {
			return "", fmt.Errorf("webtest: LID of %s: %w", other.jid, err)
		}
		list = append(list, &waLidMigrationSyncPayload.LIDMigrationMapping{Pn: &number, AssignedLid: &lid})
	}
	payload, err := proto.Marshal(&waLidMigrationSyncPayload.LIDMigrationMappingSyncPayload{PnToLidMappings: list})
	if err != nil {
		return "", err
	}
	return p.outbox.sendProtocol(ctx, d, &waE2E.ProtocolMessage{
		Type:                           waE2E.ProtocolMessage_LID_MIGRATION_MAPPING_SYNC.Enum(),
		LidMigrationMappingSyncMessage: &waE2E.LIDMigrationMappingSyncMessage{EncodedMappingPayload: payload},
	})
}

func deflate(history *waHistorySync.HistorySync) ([]byte, error) {
	raw, err := proto.Marshal(history)
	if err != nil {
		return nil, fmt.Errorf("webtest: history: %w", err)
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err = z.Write(raw); err == nil {
		err = z.Close()
	}
	return packed.Bytes(), err
}

// sendProtocol sends a message between devices to one linked device.
func (ob *phoneOutbox) sendProtocol(ctx context.Context, d *Device, m *waE2E.ProtocolMessage) (id string, err error) {
	if d.phone != ob.p {
		return "", fmt.Errorf("webtest: %s is not a device of %s", d.JID(), ob.p.jid)
	}
	o := &outgoing{Outgoing: Outgoing{ID: newMessageID(), To: d.JID(), Message: &waE2E.Message{ProtocolMessage: m}}}
	plain, err := proto.Marshal(o.Message)
	if err != nil {
		return "", err
	}
	enc, err := ob.seal(ctx, d, plain)
	if err != nil {
		return "", fmt.Errorf("webtest: sending to %s: %w", d.JID(), err)
	}
	n := o.node([]node{enc})
	n.Attrs["category"] = "peer"
	ob.p.s.deliveries(func(b *batch) { b.message(ob.p.self, n) })
	return o.ID, nil
}

// deviceRequests answers the requests of linked devices to their phone for
// keys, messages and files.
type deviceRequests struct{ p *Phone }

// handlePeer answers a message of a linked device to its phone.
func (dr *deviceRequests) handlePeer(m *Message) {
	dr.p.s.mu.Lock()
	d := dr.p.s.device(m.From)
	dr.p.s.mu.Unlock()
	asked := m.Content.GetProtocolMessage()
	var err error
	switch {
	case d == nil:
	case asked.GetAppStateSyncKeyRequest() != nil:
		_, err = dr.p.ShareState(dr.p.s.over, d)
	case dr.p.opts.Resends && len(asked.GetPeerDataOperationRequestMessage().GetPlaceholderMessageResendRequest()) > 0:
		err = dr.giveMessages(dr.p.s.over, d, m.ID, asked.GetPeerDataOperationRequestMessage())
	}
	if err != nil {
		dr.p.s.unsupported("%s cannot answer its device: %v", dr.p.jid, err)
	}
}

// giveMessages sends a linked device the requested messages that the phone has.
func (dr *deviceRequests) giveMessages(ctx context.Context, d *Device, request string, asked *waE2E.PeerDataOperationRequestMessage) error {
	var results []*waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult
	for _, one := range asked.GetPlaceholderMessageResendRequest() {
		raw, err := dr.webMessage(one.GetMessageKey())
		if err != nil {
			return err
		}
		if raw == nil {
			continue
		}
		results = append(results, &waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult{
			PlaceholderMessageResendResponse: &waE2E.PeerDataOperationRequestResponseMessage_PeerDataOperationResult_PlaceholderMessageResendResponse{
				WebMessageInfoBytes: raw,
			},
		})
	}
	if len(results) == 0 {
		return nil
	}
	_, err := dr.p.outbox.sendProtocol(ctx, d, &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE.Enum(),
		PeerDataOperationRequestResponseMessage: &waE2E.PeerDataOperationRequestResponseMessage{
			PeerDataOperationRequestType: asked.PeerDataOperationRequestType, StanzaID: &request, PeerDataOperationResult: results,
		},
	})
	return err
}

// webMessage returns a message in the format of history; nil if the phone does
// not have it.
func (dr *deviceRequests) webMessage(key *waCommon.MessageKey) ([]byte, error) {
	dr.p.s.mu.Lock()
	defer dr.p.s.mu.Unlock()
	at := slices.IndexFunc(dr.p.inbox.messages, func(m *Message) bool { return m.ID == key.GetID() && m.Content != nil })
	if at < 0 {
		return nil, nil
	}
	m := dr.p.inbox.messages[at]
	info := &waWeb.WebMessageInfo{Key: key, Message: m.Content, MessageTimestamp: proto.Uint64(uint64(m.At.Unix()))}
	if sender := dr.p.s.phone(m.From); sender != nil {
		info.PushName = proto.String(sender.opts.Name)
	}
	if m.Chat.Server == types.GroupServer {
		info.Participant = proto.String(m.From.ToNonAD().String())
	}
	return proto.Marshal(info)
}
