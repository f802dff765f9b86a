package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Watermarks are up to when, by the network's clock, a contact has got and read
// what the account wrote. A chat has them where its network reports no single
// messages.
type Watermarks struct {
	Delivered Watermark `json:"delivered,omitzero"`
	Read      Watermark `json:"read,omitzero"`
}

// Watermark is a time, and where to begin to look for messages that are not newer
// and have not been lifted: none is before.
type Watermark struct {
	UpToUS int64 `json:"upToUs"`
	Seq    int64 `json:"seq"`
}

// Of is the mark of a status, nil when there is none.
func (m *Watermarks) Of(s provider.Status) *Watermark {
	switch s {
	case provider.StatusDelivered:
		return &m.Delivered
	case provider.StatusRead:
		return &m.Read
	}
	return nil
}

// Watermarks are those of the chat; the zero value when it has none.
func (c *Chat) Watermarks() (m Watermarks) {
	if c.Marks != "" {
		_ = json.Unmarshal([]byte(c.Marks), &m) // written by this package
	}
	return m
}

// WatermarkChanges are the watermarks that a batch has changed.
type WatermarkChanges struct {
	dirty Ordered[*Chat] // whose watermarks have changed
}

// Set gives a chat its watermarks.
func (w *WatermarkChanges) Set(c *Chat, m Watermarks) {
	c.Marks = string(payload.MustEncode(m))
	w.dirty.Add(c)
}

// merge gives keep the later watermarks of two chats that become one.
func (w *WatermarkChanges) merge(keep, gone *Chat) {
	if keep.Marks == "" && gone.Marks == "" {
		return
	}
	a, b := keep.Watermarks(), gone.Watermarks()
	w.Set(keep, Watermarks{
		Delivered: Watermark{UpToUS: max(a.Delivered.UpToUS, b.Delivered.UpToUS)},
		Read:      Watermark{UpToUS: max(a.Read.UpToUS, b.Read.UpToUS)},
	})
}

// write stores the watermarks that have changed.
func (w *WatermarkChanges) write(ctx context.Context, u *Batch) error {
	var rows [][]any
	for _, c := range w.dirty.Items {
		if u.Chats[c.ID] != nil { // else merged away
			rows = append(rows, []any{c.ID, c.Marks})
		}
	}
	err := u.update(ctx, `UPDATE messaging_chat SET watermarks = v.column2`, []string{"BIGINT", "TEXT"}, rows, sameChat)
	if err != nil {
		return fmt.Errorf("storing what was read: %w", err)
	}
	return nil
}
