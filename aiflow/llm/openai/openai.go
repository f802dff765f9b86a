package openai

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// Options configures a [Model].
type Options struct {
	// BaseURL is the address with the version, as in the provider's documentation.
	// "": https://api.openai.com/v1.
	BaseURL string
	// Key is the API key. "": none is sent, as for servers without keys.
	Key string
	// Provider is the name of the provider in answers and errors. "": openai.
	Provider string
	// Timeout is the timeout of one call. 0: 5 minutes.
	Timeout time.Duration
	// Client makes the requests; it does not follow redirects. nil: a client
	// without a proxy.
	Client *http.Client
}

// Model is a [llm.Model] and [llm.Embedder] for all models of a server. It is safe
// for concurrent use.
type Model struct {
	server   wire.API
	provider string
	timeout  time.Duration
	own      bool // the server is OpenAI's own, or Azure's
}

// New returns the models of a server. It makes no request.
func New(o *Options) (*Model, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.BaseURL == "" {
		opts.BaseURL = "https://api.openai.com/v1"
	}
	u, err := url.Parse(opts.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("openai: Options.BaseURL must be an absolute http or https URL")
	}
	m := &Model{provider: opts.Provider, timeout: opts.Timeout}
	m.provider = cmp.Or(m.provider, "openai")
	if m.timeout <= 0 {
		m.timeout = 5 * time.Minute
	}
	host := strings.ToLower(u.Hostname())
	m.own = host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com")
	m.server = wire.API{Base: u, Header: http.Header{}, Client: wire.Client(opts.Client, m.provider)}
	if opts.Key != "" {
		m.server.Header.Set("Authorization", "Bearer "+opts.Key)
	}
	return m, nil
}

// List lists the models of the server.
func (m *Model) List(ctx context.Context) ([]llm.Offer, error) {
	call := wire.Call{Provider: m.provider}
	inner, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	var list modelList
	if err := m.server.Get(inner, "models", &list); err != nil {
		return nil, call.Failure(ctx, err)
	}
	out := make([]llm.Offer, 0, len(list.Data))
	for _, offered := range list.Data {
		if offered.ID != "" {
			out = append(out, llm.Offer{Name: string(offered.ID)})
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
	if r.OnText == nil {
		err = a.whole(inner, &m.server, params)
	} else {
		err = a.follow(inner, &m.server, params, func(part string) {
			call.Streamed = true
			r.OnText(part)
		})
		call.Usage = a.usage
	}
	var broken *llm.Error
	switch {
	case err == nil && a.finish == "":
		err = call.Truncated()
	case errors.As(err, &broken) && broken.Code == llm.CodeTruncated && a.finish != "":
		err = nil // the answer was complete before the connection broke
	}
	if err != nil {
		return nil, call.Failure(ctx, err)
	}
	return a.response(call)
}
