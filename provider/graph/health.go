package graph

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// expiresSoon is how long before a token expires its owner is warned.
const expiresSoon = 7 * 24 * time.Hour

// TokenHealth returns how long the client's token is valid. told is false when
// the API does not say, which is logged.
func (c *Client) TokenHealth(ctx context.Context, log *slog.Logger) (h provider.Health, reported bool) {
	t, err := c.Token(ctx)
	if err != nil {
		Trace(ctx, log, err)
		log.WarnContext(ctx, "the life of the access token is not known", slog.Any("error", CallError(err)))
		return provider.Health{}, false
	}
	h = Health("access_token", t)
	h.State, h.Level = "VALID", provider.HealthGood
	switch {
	case !t.Valid:
		h.State, h.Level, h.Code = "INVALID", provider.HealthStopped, provider.HealthCredentials
	case !t.Expires.IsZero():
		h.Detail = "ends " + t.Expires.UTC().Format(time.RFC3339)
		if t.Expires.Sub(c.now()) < expiresSoon {
			h.State, h.Level, h.Code = "EXPIRES", provider.HealthWarning, provider.HealthCredentials
		}
	}
	return h, true
}

// Health starts a report of what was requested. It has no time, which means
// now.
func Health(kind string, what any) provider.Health {
	body, _ := json.Marshal(what) // plain values cannot fail
	return provider.Health{Raw: provider.Raw{ID: kind, Kind: kind, Body: body}}
}

// Trace logs the id by which Meta's support finds a refused request. The error
// for users does not contain it.
func Trace(ctx context.Context, log *slog.Logger, err error) {
	if e, ok := errors.AsType[*Error](err); ok {
		log.InfoContext(ctx, "graph refused a request", slog.Int("code", e.Code), slog.Int("subcode", e.Subcode),
			slog.Int("http_status", e.HTTPStatus), slog.String("fbtrace_id", e.FBTraceID))
	}
}
