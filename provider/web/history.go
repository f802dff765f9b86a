package web

import (
	"cmp"
	"compress/flate"
	"compress/zlib"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"

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

// keepHistory notes that the phone has put down a piece of history, so that it
// is fetched even after a restart.
func (s *session) keepHistory(ctx context.Context, id types.MessageID, n *waE2E.HistorySyncNotification) error {
	if s.ref.Settings[settingHistory] != "true" {
		return nil
	}
	body, err := proto.Marshal(n)
	if err != nil {
		return fmt.Errorf("keeping a notice of history: %w", err)
	}
	err = s.p.devices.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.Exec(`INSERT INTO web_history (reference, id, notice, at_us) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			s.ref.ID, id, base64.StdEncoding.EncodeToString(body), database.Micros(s.p.opts.Now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping a notice of history: %w", err)
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
	var notices []struct{ ID, Notice string }
	err := s.p.devices.db.SelectContext(s.ctx, &notices, `SELECT id, notice FROM web_history WHERE reference = $1 ORDER BY at_us, id`, s.ref.ID)
	for _, n := range notices {
		if s.held() && s.ctx.Err() == nil {
			err = cmp.Or(err, s.importPiece(s.ctx, c, n.ID, n.Notice))
		}
	}
	if err != nil && s.ctx.Err() == nil {
		s.log.Warn("importing history", slog.Any("error", err))
	}
}

func (s *session) importPiece(ctx context.Context, c *whatsmeow.Client, id, notice string) error {
	body, err := base64.StdEncoding.DecodeString(notice)
	if err != nil {
		return fmt.Errorf("reading a notice of history: %w", err)
	}
	n := &waE2E.HistorySyncNotification{}
	if err := proto.Unmarshal(body, n); err != nil {
		return fmt.Errorf("reading a notice of history: %w", err)
	}
	blob, err := c.DownloadHistorySync(ctx, n, true)
	switch {
	case lost(err):
		if err := c.SendHistorySyncServerErrorReceipt(ctx, id, n.GetMediaKey()); err != nil {
			return fmt.Errorf("asking for history again: %w", err)
		}
		return s.dropHistory(ctx, id) // the phone announces it anew
	case spoilt(err):
		s.log.WarnContext(ctx, "a piece of history cannot be read", slog.Any("error", err))
		return s.dropHistory(ctx, id)
	case err != nil:
		return fmt.Errorf("fetching history: %w", err)
	}
	evs := s.history(ctx, c, blob)
	if phase, ok := phases[blob.GetSyncType()]; ok {
		evs = append(evs, &provider.HistoryProgress{
			Raw: provider.Raw{Kind: "history", ID: id}, Phase: phase, Chunk: int(blob.GetChunkOrder()), Percent: int(blob.GetProgress()),
		})
	}
	for part := range slices.Chunk(evs, importChunk) {
		if err := s.inbox.Receive(ctx, s.ref.ID, part); err != nil {
			return fmt.Errorf("storing history: %w", err)
		}
	}
	return s.dropHistory(ctx, id)
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
		return nil // a note of the app: somebody joined, a number changed
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
