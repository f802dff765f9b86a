package llmtest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// recording is a line of a record: a request and its outcome. It has no keys and no
// addresses.
type recording struct {
	Asked  asked     `json:"asked"`
	Parts  []string  `json:"parts,omitempty"` // as they were streamed
	Said   *said     `json:"said,omitempty"`
	Failed *failed   `json:"failed,omitempty"`
	At     time.Time `json:"at"`
}

type asked struct {
	Model       string          `json:"model"`
	System      string          `json:"system,omitempty"`
	Messages    []llm.Message   `json:"messages"`
	Tools       []llm.ToolSpec  `json:"tools,omitempty"`
	Choice      llm.ToolChoice  `json:"choice,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	MaxTokens   int             `json:"maxTokens,omitempty"`
}

type said struct {
	Message  llm.Message `json:"message"`
	Stop     llm.Stop    `json:"stop"`
	Usage    llm.Usage   `json:"usage"`
	Provider string      `json:"provider"`
	Model    string      `json:"model"`
}

type failed struct {
	Code     llm.Code      `json:"code"`
	Message  string        `json:"message"`
	Status   int           `json:"status,omitempty"`
	After    time.Duration `json:"afterNanos,omitempty"`
	Usage    llm.Usage     `json:"usage"`
	Provider string        `json:"provider"`
	Model    string        `json:"model"`
}

func askedOf(r *llm.Request) asked {
	return asked{r.Model, r.System, r.Messages, r.Tools, r.Choice, r.Schema, r.Temperature, r.MaxTokens}
}

// key returns equal keys for equal requests.
func (a asked) key() (string, error) {
	b, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("llmtest: writing a request: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Record returns a model that calls m and writes a line of JSON for each answer and
// each error of m. A line has the request, but no keys and no addresses. Errors of
// the context are not recorded.
func Record(m llm.Model, w io.Writer) llm.Model { return &recorder{model: m, w: w} }

type recorder struct {
	model llm.Model
	mu    sync.Mutex
	w     io.Writer
}

func (c *recorder) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	line := recording{Asked: askedOf(r), At: time.Now().UTC()}
	received := *r
	if r.OnText != nil {
		received.OnText = func(part string) {
			line.Parts = append(line.Parts, part)
			r.OnText(part)
		}
	}
	res, err := c.model.Generate(ctx, &received)
	var e *llm.Error
	switch {
	case err == nil:
		line.Said = &said{res.Message, res.Stop, res.Usage, res.Provider, res.Model}
	case errors.As(err, &e):
		line.Failed = &failed{e.Code, e.Message, e.Status, e.After, e.Usage, e.Provider, e.Model}
	default:
		return nil, err
	}
	if werr := c.write(line); werr != nil {
		return nil, werr
	}
	return res, err
}

func (c *recorder) write(line recording) error {
	b, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("llmtest: writing a record: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("llmtest: writing a record: %w", err)
	}
	return nil
}

// Replay returns a model that answers from a record. Requests that occur several
// times are answered in the order of the record. A request that is not in the
// record fails with [llm.CodeInvalid].
func Replay(r io.Reader) (llm.Model, error) {
	p := &player{lines: map[string][]recording{}}
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := lines.ReadBytes('\n')
		if len(text) > 0 {
			if err := p.add(text); err != nil {
				return nil, fmt.Errorf("llmtest: line %d of the record: %w", n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, fmt.Errorf("llmtest: reading a record: %w", err)
		}
	}
}

type player struct {
	mu    sync.Mutex
	lines map[string][]recording
}

func (p *player) add(text []byte) error {
	var line recording
	if err := json.Unmarshal(text, &line); err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	if (line.Said == nil) == (line.Failed == nil) {
		return errors.New("it has either an answer or an error")
	}
	key, err := line.Asked.key()
	if err != nil {
		return err
	}
	p.lines[key] = append(p.lines[key], line)
	return nil
}

func (p *player) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("llmtest: %w", err)
	}
	line, err := p.next(r)
	if err != nil {
		return nil, err
	}
	if r.OnText != nil {
		parts := line.Parts
		if parts == nil && line.Said != nil {
			parts = words(line.Said.Message.Text()) // it was not streamed when it was recorded
		}
		for _, part := range parts {
			r.OnText(part)
		}
	}
	if f := line.Failed; f != nil {
		return nil, &llm.Error{
			Code: f.Code, Message: f.Message, Status: f.Status, After: f.After, Usage: f.Usage, Provider: f.Provider, Model: f.Model,
			Streamed: r.OnText != nil && len(line.Parts) > 0,
		}
	}
	return &llm.Response{Message: line.Said.Message, Stop: line.Said.Stop, Usage: line.Said.Usage, Provider: line.Said.Provider, Model: line.Said.Model}, nil
}

func (p *player) next(r *llm.Request) (recording, error) {
	key, err := askedOf(r).key()
	if err != nil {
		return recording{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.lines[key]
	if len(left) == 0 {
		return recording{}, &llm.Error{Code: llm.CodeInvalid, Message: "the record has no answer to this", Provider: "record", Model: r.Model}
	}
	p.lines[key] = left[1:]
	return left[0], nil
}
