package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	proxyNoteInterval = time.Hour // between two notes of one proxy
	maxProxyNotes     = 100       // proxies
)

// proxyNotes remembers which peers look like proxies that are not trusted. All
// clients behind such a proxy are one address: their failed logins count
// together.
type proxyNotes struct {
	mu    sync.Mutex
	noted map[netip.Addr]time.Time
}

// due says whether a peer is to be noted now.
func (p *proxyNotes) due(peer netip.Addr, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.noted[peer]; ok && now.Sub(at) < proxyNoteInterval {
		return false
	}
	if p.noted == nil || len(p.noted) >= maxProxyNotes {
		p.noted = map[netip.Addr]time.Time{}
	}
	p.noted[peer] = now
	return true
}

// noteProxy notes a request that came through a proxy which is not trusted, for
// the log and for trunkline doctor. Peers at public addresses are left out: any
// client can send the header.
func (s *Stack) noteProxy(r *http.Request) {
	if r.Header.Get("X-Forwarded-For") == "" {
		return
	}
	peer := ParseAddr(r.RemoteAddr)
	if !(peer.IsPrivate() || peer.IsLoopback() || peer.IsLinkLocalUnicast()) || IsTrusted(peer, s.Trusted) {
		return
	}
	now := s.Now()
	if !s.proxies.due(peer, now) {
		return
	}
	ctx := context.WithoutCancel(r.Context())
	s.Log.WarnContext(ctx, "a proxy is not trusted: all its clients count as one address", slog.String("proxy", peer.String()), slog.String("setting", "--trusted-proxies"))
	err := s.DB.Write(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO server_proxy (address, seen_us) VALUES ($1, $2)
			ON CONFLICT (address) DO UPDATE SET seen_us = excluded.seen_us`, peer.String(), database.Micros(now))
		if err == nil {
			_, err = tx.ExecContext(ctx, `DELETE FROM server_proxy WHERE seen_us <= $1`, database.Micros(now.Add(-ProxyNoteTTL)))
		}
		return err
	})
	if err != nil {
		s.Log.WarnContext(ctx, "noting a proxy", slog.Any("error", err))
	}
}

// ProxyNoteTTL is how long a proxy that is not trusted is remembered.
const ProxyNoteTTL = 7 * 24 * time.Hour

// UntrustedProxies returns the peers through which requests with X-Forwarded-For came
// in the last seven days although they are not trusted.
func UntrustedProxies(ctx context.Context, db *sqlx.DB, trusted []netip.Prefix, now time.Time) ([]netip.Addr, error) {
	var rows []string
	if err := db.SelectContext(ctx, &rows, `SELECT address FROM server_proxy WHERE seen_us > $1 ORDER BY address`, database.Micros(now.Add(-ProxyNoteTTL))); err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, row := range rows {
		if a := ParseAddr(row); a.IsValid() && !IsTrusted(a, trusted) {
			out = append(out, a)
		}
	}
	return out, nil
}
