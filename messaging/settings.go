package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// mask stands for a secret.
const mask = "••••"

// checkSettings refuses settings that a kind does not have, or lacks, naming
// all of them.
func checkSettings(p provider.Provider, in provider.Settings) (provider.Settings, error) {
	known := map[string]bool{}
	for _, d := range p.Settings() {
		known[d.Name] = true
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !known[name] {
			wrong = append(wrong, &Invalid{Field: "settings." + name, Message: "is not a setting of " + string(p.Kind())})
		}
	}
	out := provider.Settings{}
	for _, d := range p.Settings() {
		v := strings.TrimSpace(store.Sanitize(in[d.Name]))
		switch {
		case v == "" && d.Required:
			wrong = append(wrong, &Invalid{Field: "settings." + d.Name, Message: "is required"})
		case len(v) > 4096:
			wrong = append(wrong, &Invalid{Field: "settings." + d.Name, Message: "must have at most 4096 characters"})
		case strings.HasPrefix(v, mask):
			wrong = append(wrong, &Invalid{Field: "settings." + d.Name, Message: "is the masked form, not the secret itself"})
		case d.Digits && strings.Trim(v, "0123456789") != "":
			wrong = append(wrong, &Invalid{Field: "settings." + d.Name, Message: "must be digits only"})
		case d.Boolean && v != "" && v != "true" && v != "false":
			wrong = append(wrong, &Invalid{Field: "settings." + d.Name, Message: "must be true or false"})
		case d.Schemes != nil && v != "" && !isURL(v, d.Schemes):
			wrong = append(wrong, &Invalid{Field: "settings." + d.Name, Message: "must be an absolute URL with one of the schemes " + strings.Join(d.Schemes, ", ")})
		case v != "":
			out[d.Name] = v
		}
	}
	return out, errors.Join(wrong...)
}

// isURL says whether a setting is a URL that names a host, with one of some
// schemes.
func isURL(v string, schemes []string) bool {
	u, err := url.Parse(v)
	return err == nil && u.Hostname() != "" && slices.Contains(schemes, u.Scheme)
}

// mergeSettings changes some of a reference's settings. Masked secrets that a
// client sends back unchanged stay as they are.
func (s *Service) mergeSettings(ctx context.Context, tx *sqlx.Tx, r *store.Reference, change map[string]string) error {
	p, err := s.kind(r.Kind)
	if err != nil {
		return err
	}
	old, err := s.openSettings(p, r)
	if err != nil {
		return err
	}
	shown := masked(p, old)
	merged := maps.Clone(old)
	for name, v := range change {
		if v != shown[name] || v == "" {
			merged[name] = v
		}
	}
	merged, err = checkSettings(p, merged)
	if err != nil {
		return err
	}
	return s.writeSettings(ctx, tx, p, r, merged)
}

// writeSettings stores settings, secrets sealed, and what callbacks are routed
// by. New credentials have yet to be proved.
func (s *Service) writeSettings(ctx context.Context, tx *sqlx.Tx, p provider.Provider, r *store.Reference, settings provider.Settings) error {
	var lineKey, groupKey string
	if c, ok := p.(provider.Caller); ok {
		lineKey, groupKey = c.Keys(settings)
	}
	if err := s.mayClaim(ctx, tx, r, lineKey); err != nil {
		return err
	}
	stored, verifyHash, err := s.sealSettings(p, r.ID, settings)
	if err != nil {
		return err
	}
	if err := template.Forget(ctx, tx, r.ID, groupKey); err != nil {
		return err
	}
	r.Settings = stored
	r.Revision++
	r.Proved, r.SignedUS = false, neverSigned
	_, err = tx.ExecContext(ctx, `UPDATE messaging_reference SET settings = $1, line_key = $2, group_key = $3, verify_hash = $4,
		revision = $5, proved = $6, signed_us = $7 WHERE id = $8`, r.Settings, lineKey, groupKey, verifyHash, r.Revision, r.Proved, r.SignedUS, r.ID)
	if err != nil {
		return fmt.Errorf("storing settings: %w", err)
	}
	return nil
}

// sealSettings is what is stored of settings: their JSON, secrets sealed, and
// the hash by which a handshake is found.
func (s *Service) sealSettings(p provider.Provider, id provider.ReferenceID, settings provider.Settings) (stored, verifyHash string, err error) {
	out := map[string]string{}
	for _, d := range p.Settings() {
		v, ok := settings[d.Name]
		switch {
		case !ok:
		case !d.Secret:
			out[d.Name] = v
		case s.keys == nil:
			return "", "", &Invalid{Field: "settings." + d.Name, Message: "cannot be kept: the service has no secrets to seal it with"}
		default:
			out[d.Name] = s.keys.Seal(sealedAs(id, d.Name), []byte(v))
		}
	}
	if c, ok := p.(provider.Caller); ok && s.keys != nil {
		if _, verify := c.Secrets(settings); verify != "" {
			verifyHash = s.keys.Hash(verifyPurpose, verify)
		}
	}
	return string(payload.MustEncode(out)), verifyHash, nil
}

// verifyPurpose separates the hashes of handshake tokens from others.
const verifyPurpose = "verify token"

// sealedAs binds a secret to its place: a sealed value pasted into another
// row does not open.
func sealedAs(id provider.ReferenceID, name string) string {
	return fmt.Sprintf("messaging_reference:%d:%s", id, name)
}

// openSettings reads a reference's settings with the secrets in clear.
func (s *Service) openSettings(p provider.Provider, r *store.Reference) (provider.Settings, error) {
	return openSettings(s.keys, p, r)
}

func openSettings(keys *keyring.Ring, p provider.Provider, r *store.Reference) (provider.Settings, error) {
	stored := map[string]string{}
	if err := json.Unmarshal([]byte(r.Settings), &stored); err != nil {
		return nil, fmt.Errorf("reading the settings of reference %d: %w", r.ID, err)
	}
	out := provider.Settings{}
	for _, d := range p.Settings() {
		v, ok := stored[d.Name]
		if !ok {
			continue
		}
		if d.Secret {
			if keys == nil {
				return nil, fmt.Errorf("reference %d: its credentials are sealed, and Options.Secrets is empty", r.ID)
			}
			clear, err := keys.Open(sealedAs(r.ID, d.Name), v)
			if err != nil {
				return nil, fmt.Errorf("opening setting %s of reference %d: %w", d.Name, r.ID, err)
			}
			v = string(clear)
		}
		out[d.Name] = v
	}
	return out, nil
}

// masked shows secrets by their last four characters, short ones not at all.
func masked(p provider.Provider, settings provider.Settings) map[string]string {
	out := map[string]string{}
	for _, d := range p.Settings() {
		v, ok := settings[d.Name]
		switch r := []rune(v); {
		case !ok:
		case !d.Secret:
			out[d.Name] = v
		case len(r) < 8:
			out[d.Name] = mask
		default:
			out[d.Name] = mask + string(r[len(r)-4:])
		}
	}
	return out
}
