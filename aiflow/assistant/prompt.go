package assistant

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/memory"
)

// Limits of a prompt in addition to the question.
const (
	maxFile     = 5 << 20 // bytes of a file of the message
	maxPassages = 6
	maxKnown    = 8 << 10 // bytes of passages
)

// typingInterval is the interval between calls of Options.Typing.
const typingInterval = 10 * time.Second

// prompt is the prompt for any model.
type prompt struct {
	system   string
	earlier  []llm.Message
	question string
	files    []llm.Part
	named    string // description of the files for a model that does not support them
	sources  []flow.ModelSource
	known    bool // it has passages of project files
	summed   bool // it has a summary of earlier messages
}

func (c *call) prompt(ctx context.Context) (*prompt, error) {
	p := &prompt{question: c.in.Input}
	c.attach(ctx, p)
	parts := []string{c.in.Instructions}
	if rule := c.language(); rule != "" {
		parts = append(parts, rule)
	}
	known, err := c.known(ctx, p)
	if err != nil {
		return nil, err
	}
	parts, p.known = append(parts, known), known != ""
	if c.s.opts.Memory != nil {
		h, err := c.s.opts.Memory.For(c.req.Run.Chat.Account).Recall(ctx, c.recollection())
		if err != nil {
			return nil, err
		}
		p.earlier = h.Messages
		parts, p.summed = append(parts, h.Note()), h.Note() != ""
	}
	p.system = joined(parts)
	if strings.TrimSpace(p.question) == "" && len(p.files) == 0 && p.named == "" {
		p.question = "[a message without text]" // providers refuse an empty message
	}
	return p, nil
}

func joined(parts []string) string {
	var said []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "\n\n")
}

// language returns the instruction in which language to answer a contact.
func (c *call) language() string {
	if c.in.JSON || c.req.Run.Chat.Key == "" {
		return ""
	}
	rule := "Answer in the language of the contact, unless the instructions above say otherwise."
	if c.in.Locale != "" {
		rule += " The contact's language is " + c.in.Locale + "."
	}
	return rule
}

// recollection returns the query for the memory. The model that answers also
// summarizes.
func (c *call) recollection() memory.Question {
	q := memory.Question{Place: c.place(), Key: c.req.Key, Messages: c.in.Memory.Messages, Tokens: c.in.Memory.Tokens}
	if c.in.Memory.Summary {
		if m, name, err := c.model(c.in.Model); err == nil {
			q.Sum = memory.Summary(m, name)
		}
	}
	return q
}

// attach adds the file of the message, if it can be read.
func (c *call) attach(ctx context.Context, p *prompt) {
	media, _ := c.in.Attachments.(map[string]any)
	if media == nil {
		return
	}
	kind, _ := media["type"].(string)
	name, _ := media["fileName"].(string)
	p.named = "[" + strings.TrimSpace(kind+" "+name) + "]"
	if c.s.opts.File == nil {
		return
	}
	f, err := c.s.opts.File(ctx, c.req.Run.Chat.Account, media, maxFile)
	if err != nil {
		c.s.opts.Logger.InfoContext(ctx, "a file is not shown to a model", "run", c.req.Run.ID, "error", err)
		return
	}
	is, _, _ := strings.Cut(f.Type, ";") // audio types have a codecs parameter
	is = strings.TrimSpace(is)
	if strings.HasPrefix(is, "image/") || strings.HasPrefix(is, "audio/") || is == "application/pdf" {
		p.files = append(p.files, llm.Part{MediaType: is, Data: f.Data, Name: f.Name})
	}
}

// known returns the relevant passages of the project's files.
func (c *call) known(ctx context.Context, p *prompt) (string, error) {
	if c.s.opts.Knowledge == nil || c.project == "" || strings.TrimSpace(p.question) == "" {
		return "", nil
	}
	found, err := c.s.opts.Knowledge.For(c.req.Run.Chat.Account).Search(ctx, c.project, knowledge.Query{
		Text: p.question, Passages: maxPassages, Bytes: maxKnown, Run: c.req.Run.ID, Flow: c.req.Run.Owner,
	})
	if errors.Is(err, knowledge.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, f := range found {
		p.sources = append(p.sources, flow.ModelSource{File: f.File, Name: f.Name, Part: f.Part})
	}
	return knowledge.Note(found), nil
}

// request returns the request to the model with that name. withFiles tells whether
// it has the message's files.
func (c *call) request(ctx context.Context, name string, p *prompt, withFiles bool) *llm.Request {
	question := llm.Message{Role: llm.RoleUser}
	text := p.question
	if withFiles {
		question.Parts = append(question.Parts, p.files...)
	}
	if len(question.Parts) == 0 && p.named != "" {
		text = strings.TrimSpace(p.named + "\n" + text)
	}
	if text != "" {
		question.Parts = append(question.Parts, llm.Part{Text: text})
	}
	warmth := c.in.Temperature
	r := &llm.Request{
		Model: name, System: p.system, Messages: append(p.earlier[:len(p.earlier):len(p.earlier)], question),
		Temperature: &warmth, MaxTokens: c.in.MaxTokens,
	}
	if c.in.Spoken && c.s.opts.Typing != nil {
		r.OnText = c.typing(ctx)
	}
	return r
}

// typing returns a function that shows in the chat that the answer is being
// written, as long as it is called.
func (c *call) typing(ctx context.Context) func(string) {
	var shown time.Time
	return func(string) {
		if now := c.s.opts.Now(); now.Sub(shown) >= typingInterval {
			shown = now
			c.s.opts.Typing(ctx, c.req.Run.Chat)
		}
	}
}
