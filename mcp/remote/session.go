package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// target is a server to connect to.
type target struct {
	server  serverRow
	program *Program // nil: it is reached over HTTP
}

// key identifies a connection. It changes with the address and the credential.
func (t target) key() string { return fmt.Sprint(t.server.ID, "#", t.server.Revision) }

// session is a connection to a server.
type session struct {
	target    target
	sdk       *sdk.ClientSession
	startedAt time.Time

	// guarded by the pool
	busy int
	used time.Time
	over bool // it is not handed out any more

	listing  sync.Mutex // locked while the tools are listed
	listedAt time.Time
	current  []*sdk.Tool
}

const (
	// maxAge bounds how long a connection is used. It also bounds how long a
	// server's promise that its list of tools does not change is trusted.
	maxAge = 5 * time.Minute
	// listTTL is how long a list of tools counts as current.
	listTTL = time.Minute
	// maxPages bounds the number of pages of a list of tools.
	maxPages = 20
)

// connect opens a connection. It may outlast ctx for a moment.
func (s *Service) connect(ctx context.Context, t target) (*session, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "trunkline", Version: s.opts.Version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "decline"}, nil
		},
	})
	cs, err := client.Connect(ctx, s.transport(t), nil)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	now := s.opts.Now()
	return &session{target: t, sdk: cs, startedAt: now, used: now}, nil
}

func (s *Service) transport(t target) sdk.Transport {
	w := &wire{next: s.web.Transport}
	if p := t.program; p != nil {
		cmd := exec.Command(p.Path, p.Args...) //nolint:gosec,noctx // the embedder names the program, and the transport ends it
		cmd.Env, cmd.Dir = p.Env, p.Dir
		return exact{&sdk.CommandTransport{Command: cmd}, &w.version}
	}
	if id := t.server.Credential; id != "" {
		w.authorize = func(r *http.Request) error {
			if s.opts.Authorize == nil {
				return errors.New("there are no credentials here")
			}
			return s.opts.Authorize(r.Context(), t.server.Account, id, r)
		}
	}
	web := *s.web
	web.Transport = w
	return exact{&sdk.StreamableClientTransport{
		Endpoint: t.server.URL, HTTPClient: &web, MaxRetries: 2, DisableStandaloneSSE: true, MaxEventSize: maxAnswer,
	}, &w.version}
}

// tools returns the tools of the server: the cached list if it is no older than
// older, else a fresh one. fresh reports which.
func (s *session) tools(ctx context.Context, now time.Time, older time.Duration) (list []*sdk.Tool, fresh bool, err error) {
	s.listing.Lock()
	defer s.listing.Unlock()
	if !s.listedAt.IsZero() && now.Sub(s.listedAt) < older {
		return s.current, false, nil
	}
	list = []*sdk.Tool{}
	var params sdk.ListToolsParams
	for range maxPages {
		res, err := s.sdk.ListTools(ctx, &params)
		if err != nil {
			return nil, false, fmt.Errorf("listing tools: %w", err)
		}
		list = append(list, res.Tools...)
		if params.Cursor = res.NextCursor; params.Cursor == "" || len(list) >= maxTools {
			break
		}
	}
	s.current, s.listedAt = list[:min(len(list), maxTools)], now
	return s.current, true, nil
}
