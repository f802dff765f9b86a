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

// AskQuestion notes that a chat was asked content in numbered text.
func (u *Batch) AskQuestion(c *Chat, seq int64, content provider.Content) {
	q := asked{Message: seq, Choices: ChoicesOf(content)}
	if len(q.Choices) == 0 {
		return
	}
	q.Choices = slices.Clone(q.Choices)
	for i := range q.Choices {
		q.Choices[i].Description = ""
	}
	c.Choices = string(payload.MustEncode(q))
	u.choices.Add(c)
}

// WithdrawQuestion forgets the question of a message that did not go out.
func (u *Batch) WithdrawQuestion(c *Chat, seq int64) {
	var q asked
	if c == nil || c.Choices == "" || json.Unmarshal([]byte(c.Choices), &q) != nil || q.Message != seq {
		return
	}
	c.Choices = ""
	u.choices.Add(c)
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

// AnswerQuestion ends the question of a chat with its answer; in a group others may
// answer as well.
func (u *Batch) AnswerQuestion(c *Chat, e *provider.Message) {
	if e.Mine || e.Historical || c.IsGroup {
		return
	}
	if _, ok := c.choice(e.Content); ok {
		c.Choices = ""
		u.choices.Add(c)
	}
}

// mergeChoices takes over the question that a chat was asked under another
// name.
func (u *Batch) mergeChoices(keep, gone *Chat) {
	if keep.Choices == "" && gone.Choices != "" {
		keep.Choices = gone.Choices
		u.choices.Add(keep)
	}
}

func (u *Batch) writeChoices(ctx context.Context) error {
	for _, c := range u.choices.Items {
		if u.Chats[c.ID] == nil {
			continue // merged away
		}
		if _, err := u.Tx.ExecContext(ctx, `UPDATE messaging_chat SET choices = $1 WHERE id = $2`, c.Choices, c.ID); err != nil {
			return fmt.Errorf("storing what a chat was asked: %w", err)
		}
	}
	return nil
}
