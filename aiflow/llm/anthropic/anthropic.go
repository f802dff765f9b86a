package anthropic

import (
	"cmp"
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

// Options configures a [Model].
type Options struct {
	// BaseURL is the address; a trailing /v1 is removed. "":
	// https://api.anthropic.com.
	BaseURL string
	// Key is the API key. "": none is sent.
	Key string
	// Provider is the name of the provider in answers and errors. "": anthropic.
	Provider string
	// Timeout is the timeout of one call. 0: 5 minutes.
	Timeout time.Duration
	// Client makes the requests; it does not follow redirects. nil: a client
	// without a proxy.
	Client *http.Client
}

// Model is a [llm.Model] for all models of a server. It is safe for concurrent use.
type Model struct {
	messages anthropic.MessageService
	models   anthropic.ModelService
	provider string
	timeout  time.Duration
}

// New returns the models of a server. It makes no request.
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
	m.provider = cmp.Or(m.provider, "anthropic")
	if m.timeout <= 0 {
		m.timeout = 5 * time.Minute
	}
	// Create the services one by one: a client of the library would read keys,
	// addresses, headers and profiles from the environment. It would also enable
	// traces, which may contain messages.
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

// maxModels is the number of listed models, which is more than there are.
const maxModels = 1000

// List lists the models of the server.
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

// Generate makes one call of a model.
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
