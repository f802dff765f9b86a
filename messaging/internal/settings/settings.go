package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Box holds the settings of references. Its fields are set before first use.
type Box struct {
	Store  *store.Store
	Keys   *keyring.Ring // nil: there are no secrets
	Logger *slog.Logger
	// Changed makes every node read references again.
	Changed func()
}

// mask stands for a secret.
const mask = "••••"

// Check refuses settings that a kind does not have, or lacks, naming
// all of them.
func Check(p provider.Provider, in provider.Settings) (provider.Settings, error) {
	known := map[string]bool{}
	for _, d := range p.Settings() {
		known[d.Name] = true
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !known[name] && !(in[name] == "" && isObject(p, name)) {
			wrong = append(wrong, &payload.Invalid{Field: "settings." + name, Message: "is not a setting of " + string(p.Kind())})
		}
	}
	out := provider.Settings{}
	for _, d := range p.Settings() {
		v := strings.TrimSpace(text.Sanitize(in[d.Name]))
		switch {
		case v == "" && d.Required:
			wrong = append(wrong, &payload.Invalid{Field: "settings." + d.Name, Message: "is required"})
		case len(v) > 4096:
			wrong = append(wrong, &payload.Invalid{Field: "settings." + d.Name, Message: "must have at most 4096 characters"})
		case strings.HasPrefix(v, mask):
			wrong = append(wrong, &payload.Invalid{Field: "settings." + d.Name, Message: "is the masked secret: give the secret itself"})
		case d.Digits && strings.Trim(v, "0123456789") != "":
			wrong = append(wrong, &payload.Invalid{Field: "settings." + d.Name, Message: "must be digits only"})
		case d.Boolean && v != "" && v != "true" && v != "false":
			wrong = append(wrong, &payload.Invalid{Field: "settings." + d.Name, Message: "must be true or false"})
		case d.Schemes != nil && v != "" && !isURL(v, d.Schemes):
			wrong = append(wrong, &payload.Invalid{Field: "settings." + d.Name, Message: "must be an absolute URL with one of the schemes " + strings.Join(d.Schemes, ", ")})
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

// Merge changes some of a reference's settings. Masked secrets that a
// client sends back unchanged stay as they are.
func (b *Box) Merge(ctx context.Context, tx *database.Tx, r *store.Reference, change map[string]string) error {
	p, err := b.Store.Provider(r.Kind)
	if err != nil {
		return err
	}
	old, err := b.Open(p, r)
	if err != nil {
		return err
	}
	shown := Masked(p, old)
	merged := maps.Clone(old)
	for name, v := range change {
		if v == "" {
			maps.DeleteFunc(merged, func(of, _ string) bool { return strings.HasPrefix(of, name+".") })
		}
		if v != shown[name] || v == "" {
			merged[name] = v
		}
	}
	merged, err = Check(p, merged)
	if err != nil {
		return err
	}
	return b.Write(ctx, tx, p, r, merged)
}

// Write stores settings, secrets sealed, and what callbacks are routed
// by. New credentials have yet to be proved.
func (b *Box) Write(ctx context.Context, tx *database.Tx, p provider.Provider, r *store.Reference, settings provider.Settings) error {
	var referenceKey, groupKey string
	if c, ok := p.(provider.Caller); ok {
		referenceKey, groupKey = c.Keys(settings)
	}
	if err := b.mayClaim(ctx, tx, r, referenceKey); err != nil {
		return err
	}
	stored, verifyHash, err := b.seal(p, r.ID, settings)
	if err != nil {
		return err
	}
	if err := template.Forget(ctx, tx, r.ID, groupKey); err != nil {
		return err
	}
	r.Settings = stored
	r.Revision++
	r.Proved, r.SignedUS = false, store.NeverSigned
	_, err = tx.ExecContext(ctx, `UPDATE messaging_reference SET settings = $1, line_key = $2, group_key = $3, verify_hash = $4,
		revision = $5, proved = $6, signed_us = $7 WHERE id = $8`, r.Settings, referenceKey, groupKey, verifyHash, r.Revision, r.Proved, r.SignedUS, r.ID)
	if err != nil {
		return fmt.Errorf("storing settings: %w", err)
	}
	return nil
}

// seal is what is stored of settings: their JSON, secrets sealed, and
// the hash by which a handshake is found.
func (b *Box) seal(p provider.Provider, id provider.ReferenceID, settings provider.Settings) (stored, verifyHash string, err error) {
	out := map[string]string{}
	for _, d := range p.Settings() {
		v, ok := settings[d.Name]
		switch {
		case !ok:
		case !d.Secret:
			out[d.Name] = v
		case b.Keys == nil:
			return "", "", &payload.Invalid{Field: "settings." + d.Name, Message: "cannot be stored: the service has no secrets to encrypt it with"}
		default:
			out[d.Name] = b.Keys.Seal(sealedAs(id, d.Name), []byte(v))
		}
	}
	if c, ok := p.(provider.Caller); ok && b.Keys != nil {
		if _, verify := c.Secrets(settings); verify != "" {
			verifyHash = b.Keys.Hash(VerifyPurpose, verify)
		}
	}
	return string(payload.MustEncode(out)), verifyHash, nil
}

// VerifyPurpose separates the hashes of handshake tokens from others.
const VerifyPurpose = "verify token"

// sealedAs binds a secret to its place: a sealed value pasted into another
// row does not open.
func sealedAs(id provider.ReferenceID, name string) string {
	return fmt.Sprintf("messaging_reference:%d:%s", id, name)
}

// Open reads a reference's settings with the secrets in clear.
func (b *Box) Open(p provider.Provider, r *store.Reference) (provider.Settings, error) {
	return Open(b.Keys, p, r)
}

// Open reads a reference's settings with keys, which seal its secrets; nil: there
// are none.
func Open(keys *keyring.Ring, p provider.Provider, r *store.Reference) (provider.Settings, error) {
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

// Masked shows secrets by their last four characters, short ones not at all.
func Masked(p provider.Provider, settings provider.Settings) map[string]string {
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
