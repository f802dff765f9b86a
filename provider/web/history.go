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
	"time"

	"github.com/jmoiron/sqlx"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// importChunk is how many old messages are stored together.
const importChunk = 100

// noticeIn is the notice of history that a decrypted message is, or nil.
func noticeIn(text []byte) *waE2E.HistorySyncNotification {
	if len(text) == 0 || int(text[len(text)-1]) > len(text) {
		return nil
	}
	var m waE2E.Message
	if proto.Unmarshal(text[:len(text)-int(text[len(text)-1])], &m) != nil { // the last byte says how many were added
		return nil
	}
	if sent := m.GetDeviceSentMessage().GetMessage(); sent != nil {
		return sent.GetProtocolMessage().GetHistorySyncNotification()
	}
	return m.GetProtocolMessage().GetHistorySyncNotification()
}

// keepNotice notes, in the transaction of ctx if that has one, that the phone
// has put down a piece of history.
func (g *guarded) keepNotice(ctx context.Context, n *waE2E.HistorySyncNotification, at time.Time) error {
	if n == nil {
		return nil
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(n)
	if err != nil {
		return fmt.Errorf("keeping a notice of history: %w", err)
	}
	_, err = g.wrapped.Exec(ctx, `INSERT INTO web_history (reference, id, message, notice, at_us) VALUES ($1, $2, '', $3, $4) ON CONFLICT DO NOTHING`,
		g.ref.ID, noticeID(body), base64.StdEncoding.EncodeToString(body), database.Micros(at))
	if err != nil {
		return fmt.Errorf("keeping a notice of history: %w", err)
	}
	return nil
}

func noticeID(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:16])
}

// announced begins to import a piece of history that the account's own phone
// has put down; others have none to give.
func (s *session) announced(info types.MessageInfo, n *waE2E.HistorySyncNotification) error {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(n)
	if err != nil || !info.IsFromMe || s.ref.Settings[settingHistory] != "true" {
		return err
	}
	err = s.p.devices.db.Write(s.ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`UPDATE web_history SET message = $1 WHERE reference = $2 AND id = $3`, info.ID, s.ref.ID, noticeID(body))
		return err
	})
	if err != nil {
		return fmt.Errorf("naming a notice of history: %w", err)
	}
	if c := s.device(); c != nil {
		s.spawn("importing history", func() { s.importHistory(c) })
	}
	return nil
}

// importHistory imports what the phone has put down. What fails is tried again
// with the next connection.
func (s *session) importHistory(c *whatsmeow.Client) {
	s.importing.Lock()
	defer s.importing.Unlock()
	var notices []notice
	err := s.p.devices.db.SelectContext(s.ctx, &notices, `SELECT id, message, notice FROM web_history WHERE reference = $1 ORDER BY at_us, id`, s.ref.ID)
	for _, n := range notices {
		if s.leased() && s.ctx.Err() == nil {
			err = cmp.Or(err, s.importPiece(s.ctx, c, n))
		}
	}
	if err != nil && s.ctx.Err() == nil {
		s.log.Warn("importing history", slog.Any("error", err))
	}
}

// notice says where a piece of history is.
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

func (s *session) importPiece(ctx context.Context, c *whatsmeow.Client, at notice) error {
	n, err := at.read()
	if err != nil {
		return err
	}
	blob, err := c.DownloadHistorySync(ctx, n, true)
	switch {
	case lost(err):
		if err := c.SendHistorySyncServerErrorReceipt(ctx, at.Message, n.GetMediaKey()); err != nil {
			return fmt.Errorf("asking for history again: %w", err)
		}
		return s.dropHistory(ctx, at.ID) // the phone announces it again
	case spoilt(err):
		s.log.WarnContext(ctx, "a piece of history cannot be read", slog.Any("error", err))
		return s.dropHistory(ctx, at.ID)
	case err != nil:
		return fmt.Errorf("fetching history: %w", err)
	}
	evs := s.history(ctx, c, blob)
	if phase, ok := phases[blob.GetSyncType()]; ok {
		evs = append(evs, &provider.HistoryProgress{
			Raw: provider.Raw{Kind: "history", ID: at.ID}, Phase: phase, Chunk: int(blob.GetChunkOrder()), Percent: int(blob.GetProgress()),
		})
	}
	for part := range slices.Chunk(evs, importChunk) {
		if err := s.inbox.Receive(ctx, s.ref.ID, part); err != nil {
			return fmt.Errorf("storing history: %w", err)
		}
	}
	return s.dropHistory(ctx, at.ID)
}

// phases are the parts of a history that hold messages.
var phases = map[waHistorySync.HistorySync_HistorySyncType]int{
	waHistorySync.HistorySync_INITIAL_BOOTSTRAP: 0, waHistorySync.HistorySync_RECENT: 1, waHistorySync.HistorySync_FULL: 2,
}

// spoilt reports whether a piece of history is not what the phone has put down,
// or cannot be unpacked: no further try would change that.
func spoilt(err error) bool {
	var flawed flate.CorruptInputError
	return errors.As(err, &flawed) || errors.Is(err, zlib.ErrHeader) || errors.Is(err, zlib.ErrChecksum) ||
		errors.Is(err, proto.Error) ||
		errors.Is(err, whatsmeow.ErrInvalidMediaSHA256) || errors.Is(err, whatsmeow.ErrInvalidMediaHMAC)
}

// dropHistory forgets a piece of history that was imported, or cannot be.
func (s *session) dropHistory(ctx context.Context, id string) error {
	return s.p.devices.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`DELETE FROM web_history WHERE reference = $1 AND id = $2`, s.ref.ID, id)
		return err
	})
}

// history is what a piece of history holds: names, and messages from the oldest
// to the newest.
func (s *session) history(ctx context.Context, c *whatsmeow.Client, blob *waHistorySync.HistorySync) []provider.Event {
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
		for _, m := range slices.Backward(msgs) { // the newest come first
			out = append(out, s.historical(c, chat, m.GetMessage())...)
		}
	}
	return out
}

// historical is an old message.
func (s *session) historical(c *whatsmeow.Client, chat types.JID, w *waWeb.WebMessageInfo) []provider.Event {
	if w.GetMessage() == nil {
		return nil // a note of the app: a member joined, a number changed
	}
	e, err := c.ParseWebMessage(chat, w)
	if err != nil {
		s.log.Debug("reading an old message", slog.Any("error", err))
		return nil
	}
	content := contentOf(e.Message)
	if content == nil {
		return nil
	}
	evs := s.envelope(e.Info, content)
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
