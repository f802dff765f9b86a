package assistant

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
)

// Options configures a [Service].
type Options struct {
	// Ledger is where calls of models are written down, and budgets are asked.
	// nil: nowhere.
	Ledger *usage.Ledger
	// Memory keeps what was said. nil: nothing is remembered.
	Memory *memory.Service
	// Knowledge has the files of projects. nil: there are none.
	Knowledge *knowledge.Service
	// Model is who is asked when a flow names no model, as "openai/gpt-5". nil:
	// such calls end with the code llm.no_model.
	Model func(ctx context.Context) (string, error)
	// Project is the id of the project of a flow. nil: there are no projects.
	Project func(ctx context.Context, account, flow string) (string, error)
	// File reads the file of a message, as flows see it in its media, of at most
	// so many bytes. nil: models are told the names of files.
	File func(ctx context.Context, account string, media map[string]any, limit int64) (File, error)
	// Typing shows in a chat that an answer is being written. It is called again
	// while that continues, on the goroutine that receives the answer. nil:
	// nothing is shown.
	Typing func(ctx context.Context, c runtime.Chat)
	// Links are hosts, with those below them, to which answers may link although
	// a file may have brought the address.
	Links []string
	// Retry is how often a model is asked again within one attempt. nil: see
	// [llm.Retry].
	Retry  *llm.RetryOptions
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// ErrNoFile reports that a file cannot be had: it is gone, too large, or
// of another account.
var ErrNoFile = errors.New("assistant: there is no such file")

// File is a file of a message.
type File struct {
	Type string // its media type
	Name string
	Data []byte
}

// Service answers for models. It is safe for concurrent use.
type Service struct {
	models *llm.Models
	opts   Options
}

// New returns a Service that asks these models.
func New(models *llm.Models, opts *Options) (*Service, error) {
	if models == nil {
		return nil, errors.New("assistant: models are required")
	}
	s := &Service{models: models}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Project == nil {
		s.opts.Project = func(context.Context, string, string) (string, error) { return "", nil }
	}
	if s.opts.Model == nil {
		s.opts.Model = func(context.Context) (string, error) {
			return "", &llm.Error{Code: llm.CodeNoModel, Message: "no model is named"}
		}
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.Default()
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	return s, nil
}
