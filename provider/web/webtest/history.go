package webtest

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"strconv"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waLidMigrationSyncPayload"
	"google.golang.org/protobuf/proto"
)

// SendHistory gives a linked device a piece of history: in the message itself,
// or as a file on the media host.
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
	return p.sendProtocol(ctx, d, &waE2E.ProtocolMessage{
		Type: waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(), HistorySyncNotification: n,
	})
}

// ShareMappings tells a linked device which numbers and LIDs belong together.
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
	return p.sendProtocol(ctx, d, &waE2E.ProtocolMessage{
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

// sendProtocol sends a word between devices to one linked device.
func (p *Phone) sendProtocol(ctx context.Context, d *Device, m *waE2E.ProtocolMessage) (id string, err error) {
	if d.phone != p {
		return "", fmt.Errorf("webtest: %s is not linked by %s", d.JID(), p.jid)
	}
	o := &outgoing{Outgoing: Outgoing{ID: newMessageID(), To: d.JID(), Message: &waE2E.Message{ProtocolMessage: m}}}
	plain, err := proto.Marshal(o.Message)
	if err != nil {
		return "", err
	}
	enc, err := p.seal(ctx, d, plain)
	if err != nil {
		return "", fmt.Errorf("webtest: sending to %s: %w", d.JID(), err)
	}
	n := o.node([]node{enc})
	n.Attrs["category"] = "peer"
	p.s.deliveries(func(b *batch) { b.message(p.self, n) })
	return o.ID, nil
}
