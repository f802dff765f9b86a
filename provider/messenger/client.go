package messenger

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Client makes the typed calls of the Messenger Platform for one page. A
// [provider.Session] of this package uses one. A program that needs more than
// the common contract creates its own.
//
// Its errors are those of package provider. If the outcome of a call is
// uncertain, [Client.Send] fails with a [*provider.Ambiguous], and a call that
// may be repeated with a [*provider.Temporary]. It may be used concurrently.
type Client struct {
	graph *graph.Client
	page  string // id of the page
	log   *slog.Logger
}

// Client returns the client of the page that the settings describe. It fails if
// a setting is missing or cannot be an id.
func (p *Provider) Client(settings provider.Settings) (*Client, error) {
	s, err := graph.Trimmed(p.Settings(), settings)
	if err != nil {
		return nil, err
	}
	return &Client{graph: p.graph.As(s[graph.AccessToken]), page: s[pageID], log: p.log}, nil
}

func (c *Client) failed(ctx context.Context, doing string, err error) error {
	graph.Trace(ctx, c.log, err)
	return fmt.Errorf("messenger: %s: %w", doing, graph.CallError(err))
}

// confirmed makes a call whose answer is {"success": true}.
func (c *Client) confirmed(ctx context.Context, doing, path string, body any) error {
	var done graph.Confirmation
	if err := c.graph.Post(ctx, path, body, &done); err != nil {
		return c.failed(ctx, doing, err)
	}
	return done.Check(doing)
}
