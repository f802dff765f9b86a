package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/assistant"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/api/flows"
)

// openAssistant makes what answers for the assistant nodes of flows, and what
// it remembers and knows.
func (s *Server) openAssistant(ctx context.Context) (err error) {
	c := s.cfg
	s.Memory, err = memory.New(ctx, c.DB, &memory.Options{Names: s.chatNames, Lock: s.lockRun, Retention: c.MessageRetention, Logger: c.Logger, Now: c.Now})
	if err != nil {
		return err
	}
	embed, err := s.openEmbedder()
	if err != nil {
		return err
	}
	s.Knowledge, err = knowledge.New(ctx, c.DB, &knowledge.Options{Embed: embed, Admit: s.admitFile, Logger: c.Logger, Now: c.Now})
	if err != nil {
		return err
	}
	s.Assistant, err = assistant.New(s.models, &assistant.Options{
		Ledger: s.Usage, Memory: s.Memory, Knowledge: s.Knowledge, Model: s.firstModel, Project: s.projectOf, File: s.messageFile,
		Typing: s.showTyping, Logger: c.Logger, Now: c.Now,
	})
	return err
}

// chatNames are the ids of a chat, or of all chats of its contact.
func (s *Server) chatNames(ctx context.Context, account string, c memory.Chat, everywhere bool) ([]memory.Chat, error) {
	names, err := s.Messaging.For(account).Contacts().Names(ctx, provider.ReferenceID(c.Reference), c.ID, everywhere)
	out := make([]memory.Chat, len(names))
	for i, n := range names {
		out[i] = memory.Chat{Reference: int64(n.Reference), ID: n.ID}
	}
	return out, err
}

// lockRun says whether a run is there, and keeps it there.
func (s *Server) lockRun(ctx context.Context, tx *sqlx.Tx, account, run string) (bool, error) {
	return s.Runs.For(account).LockTx(ctx, tx, run)
}

// messageFile reads a file of our own store that a message came with.
func (s *Server) messageFile(ctx context.Context, account string, m map[string]any, limit int64) (assistant.File, error) {
	link, _ := m["url"].(string)
	path, ours := strings.CutPrefix(link, s.cfg.BaseURL)
	u, err := url.Parse(path)
	if s.media == nil || !ours || err != nil {
		return assistant.File{}, assistant.ErrNoFile
	}
	id, ok := s.media.Linked(u.Path)
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
	file, err := s.media.Open(ctx, id)
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

// showTyping shows in a chat that an answer is being written. Nothing depends
// on it.
func (s *Server) showTyping(ctx context.Context, c runtime.Chat) {
	if err := s.Messaging.For(c.Account).ShowTyping(ctx, line(c), c.ID); err != nil && ctx.Err() == nil {
		s.log.DebugContext(ctx, "typing could not be shown", "reference", c.Reference, "error", err)
	}
}

// toMemory forgets what was said in chats that are erased.
type toMemory struct{ s *Server }

// Erase forgets.
func (t toMemory) Erase(ctx context.Context, e messaging.Erased) error {
	return t.s.Memory.For(e.Account).Erase(ctx, memory.Erasure{
		Reference: int64(e.Reference), ChatIDs: e.ChatIDs, MessageIDs: e.MessageIDs, Before: e.Before,
	})
}

// openModels collects the language models: those of the configuration, and
// those that need no key.
func (c Config) openModels() (*llm.Models, error) {
	all := map[string]llm.Model{flows.MockModels: mock.New()}
	maps.Copy(all, c.Models)
	m, err := llm.NewModels(all)
	if err != nil {
		return nil, fmt.Errorf("server: Config.Models: %w", err)
	}
	return m, nil
}

// firstModel is asked where a flow names no model.
func (s *Server) firstModel(context.Context) (string, error) {
	if s.cfg.Model != "" {
		return s.cfg.Model, nil
	}
	if len(s.cfg.Models) == 0 {
		return flows.MockModels + "/assistant", nil
	}
	return "", &llm.Error{Code: llm.CodeNoModel, Message: "no model is named, and the server has none for that"}
}

// openEmbedder finds who says what the files of projects mean; nil: no model.
func (s *Server) openEmbedder() (func(context.Context, knowledge.Texts) ([][]float32, error), error) {
	ref := s.cfg.EmbeddingModel
	if ref == "" {
		return nil, nil
	}
	m, name, err := s.models.Find(ref)
	if err != nil {
		return nil, fmt.Errorf("Config.EmbeddingModel: %w", err)
	}
	e, is := m.(llm.Embedder)
	if !is {
		return nil, fmt.Errorf("Config.EmbeddingModel: %s has no embeddings", ref)
	}
	provider, _, _ := strings.Cut(ref, "/")
	return func(ctx context.Context, t knowledge.Texts) ([][]float32, error) {
		tokens := int64(0)
		for _, text := range t.Texts {
			tokens += int64(len(text))
		}
		entry, err := s.Usage.Begin(ctx, usage.Call{
			Account: t.Account, Feature: "knowledge", Project: t.Project, Flow: t.Flow, Run: t.Run, Provider: provider, Model: name,
			Reserve: llm.Usage{Known: true, Input: tokens},
		})
		if err != nil {
			return nil, err
		}
		found, failed := e.Embed(ctx, name, t.Texts)
		var answer *llm.Response
		if failed == nil {
			answer = &llm.Response{Usage: found.Usage, Provider: found.Provider, Model: found.Model}
		}
		if _, err := s.Usage.Complete(ctx, entry, answer, failed); failed != nil || err != nil {
			return nil, errors.Join(failed, err)
		}
		return found.Vectors, nil
	}, nil
}
