package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// Call is a call of a model, for its errors.
type Call struct {
	Provider, Model string
	// Streamed reports that parts of the answer have been passed on.
	Streamed bool
	// Usage is the usage of the call as far as it is known.
	Usage llm.Usage
}

// Failure converts an error of a provider's library: to the context's error if that
// has ended, else to an [*llm.Error].
func (c Call) Failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", c.Provider, ctx.Err())
	}
	e := classify(err)
	e.Provider, e.Model, e.Streamed = c.Provider, c.Model, c.Streamed
	if c.Usage.Known {
		e.Usage = c.Usage
	}
	return &e
}

func classify(err error) llm.Error {
	if known, ok := errors.AsType[*llm.Error](err); ok {
		return *known
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return llm.Error{Code: llm.CodeTruncated, Message: "the answer broke off", Err: err}
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &kind) {
		return malformed(err)
	}
	var unreachable *url.Error
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return llm.Error{Code: llm.CodeTimeout, Message: meaning[llm.CodeTimeout], Err: err}
	}
	if errors.As(err, &unreachable) || errors.As(err, &network) {
		return llm.Error{Code: llm.CodeUnavailable, Message: "the provider cannot be reached", Err: err}
	}
	return malformed(err)
}

func malformed(err error) llm.Error {
	return llm.Error{Code: llm.CodeMalformed, Message: "the answer cannot be understood", Err: err}
}

// Refuse returns the error of a request that is not sent.
func (c Call) Refuse(format string, args ...any) error {
	return &llm.Error{Code: llm.CodeInvalid, Message: fmt.Sprintf(format, args...), Provider: c.Provider, Model: c.Model}
}

// Truncated returns the error of an answer that ended early.
func (c Call) Truncated() error {
	return &llm.Error{Code: llm.CodeTruncated, Message: "the answer broke off", Provider: c.Provider, Model: c.Model, Streamed: c.Streamed, Usage: c.Usage}
}

// Malformed returns the error of an answer that lacks something.
func (c Call) Malformed(why string) error {
	return &llm.Error{Code: llm.CodeMalformed, Message: "the answer cannot be understood: " + why, Provider: c.Provider, Model: c.Model, Streamed: c.Streamed, Usage: c.Usage}
}
