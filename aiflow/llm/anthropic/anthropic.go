package anthropic

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// Options say where the models are.
type Options struct {
	// BaseURL is the address; a version at its end, /v1, is taken off.
	// "": https://api.anthropic.com.
	BaseURL string
	// Key is the API key. "": none is sent.
	Key string
	// Provider is the name that answers and errors give. "": anthropic.
	Provider string
	// Timeout is how long one call may take. 0: 5 minutes.
	Timeout time.Duration
	// Client makes the connections; its redirects are not followed. nil: one
	// without a proxy.
	Client *http.Client
}

// Model is a [llm.Model] of all models that a server has. It is safe for
// concurrent use.
type Model struct {
	messages anthropic.MessageService
	models   anthropic.ModelService
	provider string
	timeout  time.Duration
}

// New returns the models of a server. It asks for nothing yet.
func New(o *Options) (*Model, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.BaseURL == "" {
		opts.BaseURL = "https://api.anthropic.com"
	}
	opts.BaseURL = strings.TrimSuffix(strings.TrimRight(opts.BaseURL, "/"), "/v1")
	u, err := url.Parse(opts.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("anthropic: Options.BaseURL must be an absolute http or https URL")
	}
	m := &Model{provider: opts.Provider, timeout: opts.Timeout}
	if m.provider == "" {
		m.provider = "anthropic"
	}
	if m.timeout <= 0 {
		m.timeout = 5 * time.Minute
	}
	// The services are made one by one: a client of the library would read keys,
	// addresses, headers and profiles from the environment. Its traces would, too,
	// and may hold what is said.
	settings := []option.RequestOption{
		option.WithBaseURL(opts.BaseURL), option.WithHTTPClient(wire.Client(opts.Client, m.provider)), option.WithMaxRetries(0),
		option.WithOpenTelemetryTraces(false), option.WithOpenTelemetryPropagation(false),
	}
	if opts.Key != "" {
		settings = append(settings, option.WithAPIKey(opts.Key))
	}
	m.messages, m.models = anthropic.NewMessageService(settings...), anthropic.NewModelService(settings...)
	return m, nil
}

// maxModels is how many models are listed, which is all of them.
const maxModels = 1000

// List names the models of the server.
func (m *Model) List(ctx context.Context) ([]llm.Offer, error) {
	inner, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	page, err := m.models.List(inner, anthropic.ModelListParams{Limit: anthropic.Int(maxModels)})
	if err != nil {
		return nil, wire.Call{Provider: m.provider}.Failure(ctx, err)
	}
	out := make([]llm.Offer, 0, len(page.Data))
	for _, offered := range page.Data {
		if offered.ID != "" {
			out = append(out, llm.Offer{Name: offered.ID, Title: offered.DisplayName})
		}
	}
	return out, nil
}

// Generate asks a model once.
func (m *Model) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	call := wire.Call{Provider: m.provider, Model: r.Model}
	params, err := m.params(call, r)
	if err != nil {
		return nil, err
	}
	inner, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	a := &answer{}
	err = a.follow(m.messages.NewStreaming(inner, params), func(part string) {
		if r.OnText != nil {
			call.Streamed = true
			r.OnText(part)
		}
	})
	call.Usage = a.usage
	var said *anthropic.Error
	switch {
	case errors.As(err, &said):
		err = wire.Refusal(m.provider, 0, nil, []byte(said.RawJSON()))
	case err == nil && !a.complete:
		err = call.Truncated()
	}
	if err != nil {
		return nil, call.Failure(ctx, err)
	}
	return a.response(call)
}
