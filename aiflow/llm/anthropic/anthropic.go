package anthropic

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

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
	server   wire.API
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
	m.server = wire.API{Base: u, Header: http.Header{"Anthropic-Version": {"2023-06-01"}}, Client: wire.Client(opts.Client, m.provider)}
	if opts.Key != "" {
		m.server.Header.Set("X-Api-Key", opts.Key)
	}
	return m, nil
}

// maxModels is the number of listed models, which is more than there are.
const maxModels = 1000

// List lists the models of the server.
func (m *Model) List(ctx context.Context) ([]llm.Offer, error) {
	inner, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	var list modelList
	if err := m.server.Get(inner, "v1/models?limit="+strconv.Itoa(maxModels), &list); err != nil {
		return nil, wire.Call{Provider: m.provider}.Failure(ctx, err)
	}
	out := make([]llm.Offer, 0, len(list.Data))
	for _, offered := range list.Data {
		if offered.ID != "" {
			out = append(out, llm.Offer{Name: string(offered.ID), Title: string(offered.DisplayName)})
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
	err = a.follow(inner, &m.server, params, func(part string) {
		if r.OnText != nil {
			call.Streamed = true
			r.OnText(part)
		}
	})
	call.Usage = a.usage
	if err == nil && !a.complete {
		err = call.Truncated()
	}
	if err != nil {
		return nil, call.Failure(ctx, err)
	}
	return a.response(call)
}
