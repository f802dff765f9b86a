package assistant

import (
	"cmp"
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
	// Ledger records calls of models and enforces budgets. nil: none.
	Ledger *usage.Ledger
	// Memory stores conversations. nil: nothing is remembered.
	Memory *memory.Service
	// Knowledge has the files of projects. nil: none.
	Knowledge *knowledge.Service
	// Model returns the model for flows that name none, such as "openai/gpt-5".
	// nil: such calls fail with the code llm.no_model.
	Model func(ctx context.Context) (string, error)
	// Project returns the id of the project of a flow. nil: there are no projects.
	Project func(ctx context.Context, account, flow string) (string, error)
	// File reads the file of a message from its media as flows see it, with at most
	// limit bytes. nil: models get only the names of files.
	File func(ctx context.Context, account string, media map[string]any, limit int64) (File, error)
	// Typing shows in a chat that an answer is being written. It is called
	// repeatedly, on the goroutine that receives the answer. nil: nothing is shown.
	Typing func(ctx context.Context, c runtime.Chat)
	// Links are hosts, including their subdomains, to which answers may always
	// link, even if the address is from a file.
	Links []string
	// Retry configures the retries within one attempt. nil: the defaults of
	// [llm.Retry].
	Retry  *llm.RetryOptions
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// ErrNoFile reports a file that is missing, too large, or of another account.
var ErrNoFile = errors.New("assistant: there is no such file")

// File is the file of a message.
type File struct {
	Type string // media type
	Name string
	Data []byte
}

// Service answers calls of flows with models. It is safe for concurrent use.
type Service struct {
	models *llm.Models
	opts   Options
}

// New returns a Service that uses these models.
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
			return "", &llm.Error{Code: llm.CodeNoModel, Message: "the request names no model"}
		}
	}
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	return s, nil
}
