package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// asked is what a chat was asked in numbered text, because its reference lacks
// buttons, lists or polls. The contact's next answer that fits is understood
// as the choice.
type asked struct {
	Message int64             `json:"message"` // seq of the message that asked
	Choices []provider.Choice `json:"choices"`
}

// ChoicesOf are the answers that content offers, in the order of their
// numbers; nil when it is no question.
func ChoicesOf(c provider.Content) []provider.Choice {
	switch v := c.(type) {
	case provider.Buttons:
		return v.Buttons
	case provider.List:
		var rows []provider.Choice
		for _, s := range v.Sections {
			rows = append(rows, s.Rows...)
		}
		return rows
	case provider.Poll:
		out := make([]provider.Choice, len(v.Options))
		for i, o := range v.Options {
			out[i] = provider.Choice{ID: o, Title: o}
		}
		return out
	}
	return nil
}

// Questions are the open questions of a batch's chats. A chat has at most one.
type Questions struct {
	dirty Ordered[*Chat] // whose question has changed
}

// Ask notes that message seq asks a chat the question of content, in numbered
// text. Content that offers no answers is ignored.
func (q *Questions) Ask(c *Chat, seq int64, content provider.Content) {
	question := asked{Message: seq, Choices: slices.Clone(ChoicesOf(content))}
	if len(question.Choices) == 0 {
		return
	}
	for i := range question.Choices {
		question.Choices[i].Description = ""
	}
	c.Choices = string(payload.MustEncode(question))
	q.dirty.Add(c)
}

// Withdraw removes the question of message seq, which was not sent.
func (q *Questions) Withdraw(c *Chat, seq int64) {
	var question asked
	if c == nil || c.Choices == "" || json.Unmarshal([]byte(c.Choices), &question) != nil || question.Message != seq {
		return
	}
	c.Choices = ""
	q.dirty.Add(c)
}

// choice is the answer to the chat's open question that a content gives.
func (c *Chat) choice(content provider.Content) (provider.Reply, bool) {
	text, ok := content.(provider.Text)
	if c.Choices == "" || !ok {
		return provider.Reply{}, false
	}
	var q asked
	_ = json.Unmarshal([]byte(c.Choices), &q) // written by this package
	said := strings.TrimSpace(text.Text)
	for _, choice := range q.Choices {
		if strings.EqualFold(said, strings.TrimSpace(choice.Title)) {
			return provider.Reply{ID: choice.ID, Title: choice.Title}, true
		}
	}
	n, err := strconv.Atoi(strings.Trim(said, " .)("))
	if err != nil || n < 1 || n > len(q.Choices) {
		return provider.Reply{}, false
	}
	return provider.Reply{ID: q.Choices[n-1].ID, Title: q.Choices[n-1].Title}, true
}

// Understand puts the choice that a message makes beside its words.
func (c *Chat) Understand(e *provider.Message, body string) string {
	if e.Mine || e.Historical {
		return body
	}
	r, ok := c.choice(e.Content)
	if !ok {
		return body
	}
	return string(payload.Join(json.RawMessage(body), payload.MustEncode(map[string]any{"reply": r})))
}

// Answer removes the question of a chat when e answers it. The question of a
// group stays, since other members may answer it too.
func (q *Questions) Answer(c *Chat, e *provider.Message) {
	if e.Mine || e.Historical || c.IsGroup {
		return
	}
	if _, ok := c.choice(e.Content); ok {
		c.Choices = ""
		q.dirty.Add(c)
	}
}

// merge gives keep the question of gone when keep has none.
func (q *Questions) merge(keep, gone *Chat) {
	if keep.Choices == "" && gone.Choices != "" {
		keep.Choices = gone.Choices
		q.dirty.Add(keep)
	}
}

// write stores the questions that have changed.
func (q *Questions) write(ctx context.Context, u *Batch) error {
	for _, c := range q.dirty.Items {
		if u.Chats[c.ID] == nil {
			continue // merged away
		}
		if _, err := u.Tx.ExecContext(ctx, `UPDATE messaging_chat SET choices = $1 WHERE id = $2`, c.Choices, c.ID); err != nil {
			return fmt.Errorf("storing what a chat was asked: %w", err)
		}
	}
	return nil
}
