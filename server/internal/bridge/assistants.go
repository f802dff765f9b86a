package bridge

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/assistant"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
)

// AssistantChats shows chats and their files to assistants.
type AssistantChats struct {
	BaseURL   string
	Log       *slog.Logger
	Media     *media.Library // nil: files are not kept
	Messaging *messaging.Service
	Runs      *runtime.Runtime
}

// Names returns the ids of a chat, or of all chats of its contact.
func (s *AssistantChats) Names(ctx context.Context, account string, c memory.Chat, everywhere bool) ([]memory.Chat, error) {
	names, err := s.Messaging.For(account).Contacts().Names(ctx, provider.ReferenceID(c.Reference), c.ID, everywhere)
	out := make([]memory.Chat, len(names))
	for i, n := range names {
		out[i] = memory.Chat{Reference: int64(n.Reference), ID: n.ID}
	}
	return out, err
}

// LockRun reports whether a run exists, and keeps it until tx ends.
func (s *AssistantChats) LockRun(ctx context.Context, tx database.Executor, account, run string) (bool, error) {
	return s.Runs.For(account).LockTx(ctx, tx, run)
}

// File reads a file of our own store that a message came with.
func (s *AssistantChats) File(ctx context.Context, account string, m map[string]any, limit int64) (assistant.File, error) {
	link, _ := m["url"].(string)
	path, ours := strings.CutPrefix(link, s.BaseURL)
	u, err := url.Parse(path)
	if s.Media == nil || !ours || err != nil {
		return assistant.File{}, assistant.ErrNoFile
	}
	id, ok := s.Media.Linked(u.Path)
	if !ok {
		return assistant.File{}, assistant.ErrNoFile
	}
	known, err := s.Messaging.For(account).Media(ctx, id)
	if errors.Is(err, messaging.ErrNotFound) || err == nil && known.FileLength > limit {
		return assistant.File{}, assistant.ErrNoFile
	}
	if err != nil {
		return assistant.File{}, err
	}
	file, err := s.Media.Open(ctx, id)
	if errors.Is(err, media.ErrNotFound) {
		return assistant.File{}, assistant.ErrNoFile
	}
	if err != nil {
		return assistant.File{}, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit))
	name, _ := m["fileName"].(string)
	return assistant.File{Type: known.MimeType, Name: name, Data: data}, err
}

// ShowTyping shows in a chat that an answer is being written. Nothing depends
// on it.
func (s *AssistantChats) ShowTyping(ctx context.Context, c runtime.Chat) {
	if err := s.Messaging.For(c.Account).ShowTyping(ctx, chatReference(c), c.ID); err != nil && ctx.Err() == nil {
		s.Log.DebugContext(ctx, "typing could not be shown", "reference", c.Reference, "error", err)
	}
}
