package web

import (
	"cmp"
	"compress/flate"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// importChunk is how many events of an import are stored together.
const importChunk = 100

// history imports the messages that the phone offers when it links the device.
// The phone uploads them in pieces and sends a notice of each.
type history struct {
	conn     *connection
	inbox    provider.Inbox
	messages *messageReader
	db       *database.DB

	importing sync.Mutex // one piece at a time
}

// noticeIn returns the notice that a decrypted message carries, or nil.
func noticeIn(text []byte) *waE2E.HistorySyncNotification {
	if len(text) == 0 || int(text[len(text)-1]) > len(text) {
		return nil
	}
	var m waE2E.Message
	if proto.Unmarshal(text[:len(text)-int(text[len(text)-1])], &m) != nil { // the last byte is the length of the padding
		return nil
	}
	if sent := m.GetDeviceSentMessage().GetMessage(); sent != nil {
		return sent.GetProtocolMessage().GetHistorySyncNotification()
	}
	return m.GetProtocolMessage().GetHistorySyncNotification()
}

// keepNotice stores a notice, in the transaction of ctx if there is one.
func (g *guarded) keepNotice(ctx context.Context, n *waE2E.HistorySyncNotification, at time.Time) error {
	if n == nil {
		return nil
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(n)
	if err != nil {
		return fmt.Errorf("encoding a notice of history: %w", err)
	}
	_, err = g.wrapped.Exec(ctx, `INSERT INTO web_history (reference, id, message, notice, at_us) VALUES ($1, $2, '', $3, $4) ON CONFLICT DO NOTHING`,
		g.ref.ID, noticeID(body), base64.StdEncoding.EncodeToString(body), database.Micros(at))
	if err != nil {
		return fmt.Errorf("storing a notice of history: %w", err)
	}
	return nil
}

func noticeID(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:16])
}

// announced starts the import after a notice of the account's own phone.
func (h *history) announced(info types.MessageInfo, n *waE2E.HistorySyncNotification) error {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(n)
	if err != nil || !info.IsFromMe || h.conn.ref.Settings[settingHistory] != "true" {
		return err
	}
	err = h.db.Write(h.conn.ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(h.conn.ctx, `UPDATE web_history SET message = $1 WHERE reference = $2 AND id = $3`, info.ID, h.conn.ref.ID, noticeID(body))
		return err
	})
	if err != nil {
		return fmt.Errorf("storing the message of a notice of history: %w", err)
	}
	if c := h.conn.current(); c != nil {
		h.conn.spawn("importing history", func() { h.importAll(c) })
	}
	return nil
}

// importAll imports all pieces that the phone has offered. The next connection
// retries those that fail.
func (h *history) importAll(c *whatsmeow.Client) {
	h.importing.Lock()
	defer h.importing.Unlock()
	var notices []notice
	err := h.db.SelectContext(h.conn.ctx, &notices, `SELECT id, message, notice FROM web_history WHERE reference = $1 ORDER BY at_us, id`, h.conn.ref.ID)
	for _, n := range notices {
		if h.conn.leased() && h.conn.ctx.Err() == nil {
			err = cmp.Or(err, h.importPiece(h.conn.ctx, c, n))
		}
	}
	if err != nil && h.conn.ctx.Err() == nil {
		h.conn.log.Warn("importing history", slog.Any("error", err))
	}
}

// notice is a row of web_history: where a piece of history is.
type notice struct{ ID, Message, Notice string }

func (n notice) read() (*waE2E.HistorySyncNotification, error) {
	body, err := base64.StdEncoding.DecodeString(n.Notice)
	if err != nil {
		return nil, fmt.Errorf("reading a notice of history: %w", err)
	}
	out := &waE2E.HistorySyncNotification{}
	if err := proto.Unmarshal(body, out); err != nil {
		return nil, fmt.Errorf("reading a notice of history: %w", err)
	}
	return out, nil
}

// importPiece downloads and stores one piece.
func (h *history) importPiece(ctx context.Context, c *whatsmeow.Client, at notice) error {
	n, err := at.read()
	if err != nil {
		return err
	}
	blob, err := c.DownloadHistorySync(ctx, n, true)
	switch {
	case missingFile(err):
		if err := c.SendHistorySyncServerErrorReceipt(ctx, at.Message, n.GetMediaKey()); err != nil {
			return fmt.Errorf("asking for history again: %w", err)
		}
		return h.drop(ctx, at.ID) // the phone sends another notice
	case corrupt(err):
		h.conn.log.WarnContext(ctx, "a piece of history cannot be read", slog.Any("error", err))
		return h.drop(ctx, at.ID)
	case err != nil:
		return fmt.Errorf("fetching history: %w", err)
	}
	evs := h.events(ctx, c, blob)
	if phase, ok := phases[blob.GetSyncType()]; ok {
		evs = append(evs, &provider.HistoryProgress{
			Raw: provider.Raw{Kind: "history", ID: at.ID}, Phase: phase, Chunk: int(blob.GetChunkOrder()), Percent: int(blob.GetProgress()),
		})
	}
	for part := range slices.Chunk(evs, importChunk) {
		if err := h.inbox.Receive(ctx, h.conn.ref.ID, part); err != nil {
			return fmt.Errorf("storing history: %w", err)
		}
	}
	return h.drop(ctx, at.ID)
}

// phases are the types of pieces that contain messages.
var phases = map[waHistorySync.HistorySync_HistorySyncType]int{
	waHistorySync.HistorySync_INITIAL_BOOTSTRAP: 0, waHistorySync.HistorySync_RECENT: 1, waHistorySync.HistorySync_FULL: 2,
}

// corrupt reports whether a piece of history is damaged, so that another
// download would not help.
func corrupt(err error) bool {
	var flawed flate.CorruptInputError
	return errors.As(err, &flawed) || errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) ||
		errors.Is(err, proto.Error) ||
		errors.Is(err, whatsmeow.ErrInvalidMediaSHA256) || errors.Is(err, whatsmeow.ErrInvalidMediaHMAC)
}

// drop deletes the notice of a piece that was imported or cannot be.
func (h *history) drop(ctx context.Context, id string) error {
	return h.db.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM web_history WHERE reference = $1 AND id = $2`, h.conn.ref.ID, id)
		return err
	})
}

// events returns the names and messages of a piece, the oldest message first.
func (h *history) events(ctx context.Context, c *whatsmeow.Client, blob *waHistorySync.HistorySync) []provider.Event {
	var out []provider.Event
	for _, conv := range blob.GetConversations() {
		chat, err := types.ParseJID(conv.GetID())
		if err != nil || chat == types.StatusBroadcastJID {
			continue
		}
		pn, pnErr := types.ParseJID(conv.GetPnJID())
		lid, lidErr := types.ParseJID(conv.GetLidJID())
		if pnErr == nil && lidErr == nil {
			c.StoreLIDPNMapping(ctx, pn, lid)
		}
		if name := conv.GetName(); name != "" && chat.Server == types.GroupServer {
			out = append(out, named(&types.GroupInfo{JID: chat, GroupName: types.GroupName{Name: name}}))
		}
		msgs := conv.GetMessages()
		for _, m := range slices.Backward(msgs) { // the newest is first
			out = append(out, h.message(c, chat, m.GetMessage())...)
		}
	}
	return out
}

// message returns the events of an old message.
func (h *history) message(c *whatsmeow.Client, chat types.JID, w *waWeb.WebMessageInfo) []provider.Event {
	if w.GetMessage() == nil {
		return nil // a notice of the app, such as that a member joined
	}
	e, err := c.ParseWebMessage(chat, w)
	if err != nil {
		h.conn.log.Debug("reading an old message", slog.Any("error", err))
		return nil
	}
	content := contentOf(e.Message)
	if content == nil {
		return nil
	}
	evs := h.messages.envelope(e.Info, content)
	m := evs[len(evs)-1].(*provider.Message)
	addContext(m, contextOf(e.Message))
	m.Historical, m.Status = true, oldStatus(w.GetStatus())
	return evs
}

func oldStatus(st waWeb.WebMessageInfo_Status) provider.Status {
	switch st {
	case waWeb.WebMessageInfo_ERROR:
		return provider.StatusFail
	case waWeb.WebMessageInfo_SERVER_ACK:
		return provider.StatusSending
	case waWeb.WebMessageInfo_DELIVERY_ACK:
		return provider.StatusDelivered
	case waWeb.WebMessageInfo_READ:
		return provider.StatusRead
	case waWeb.WebMessageInfo_PLAYED:
		return provider.StatusPlayed
	}
	return provider.StatusPending
}
