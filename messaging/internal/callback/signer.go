package callback

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/settings"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Anybody may claim any id, and anybody may post any body. What that costs is
// bounded by these: the most claims that are read before it is known who signed
// a body and after, those that one id has, and the secrets that are tried.
const (
	maxUnsigned  = 64
	maxSigned    = 4096
	maxReference = 64       // of a reference: an owner has one or a few
	maxGroup     = 2000     // of a group: all references of an account at the network
	maxSecrets   = 64       // for one body
	maxSignBytes = 12 << 20 // bytes that are signed for one body, but for
	minSecrets   = 3        // which are tried for the largest, too
)

// signer is who signed a body.
type signer struct {
	caller provider.Caller
	kind   provider.Kind
	header http.Header
	body   []byte

	secret string
	tried  map[string]bool
	fresh  map[claimKey][]claim // what was read for this body
}

// findSigner finds out whose secret signed a body, with one look at the
// database at most.
func (r *Router) findSigner(ctx context.Context, by *signer) error {
	if !by.caller.Signed(by.header) {
		return ErrUnverified
	}
	refs, groups := by.caller.Mentions(by.body)
	keys := keysOf(by.kind, refs, groups)
	by.tried = map[string]bool{}
	if len(keys) == 0 {
		return ErrUnverified
	}
	if by.try(r.claims.get(keys)) {
		return nil
	}
	// A reference may have been made or changed on another node.
	found, complete, err := r.readClaims(ctx, by.kind, keys, maxUnsigned)
	if err != nil {
		return err
	}
	by.fresh = map[claimKey][]claim{}
	for _, key := range keys {
		if complete(key) {
			by.fresh[key] = found[key]
		}
	}
	if !by.try(found) {
		return ErrUnverified
	}
	return nil
}

// try reports whether a secret of claims signed the body. Of a large body it
// tries few: first the one of the operator, then those of proved claims, then
// those that have signed before, the oldest first, then the newest: of references
// before those of groups, of which an account may claim one with many references.
func (s *signer) try(found map[claimKey][]claim) bool {
	type candidate struct {
		claim
		group bool
	}
	var all []candidate
	for key, claims := range found {
		for _, c := range claims {
			all = append(all, candidate{c, key.group})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(last(!a.shared, !b.shared), last(!a.proved, !b.proved), cmp.Compare(a.row.SignedUS, b.row.SignedUS), last(a.group, b.group), cmp.Compare(b.row.ID, a.row.ID))
	})
	limit := min(maxSecrets, max(minSecrets, maxSignBytes/max(1, len(s.body))))
	for _, c := range all {
		if c.secret == "" || s.tried[c.secret] {
			continue
		}
		if len(s.tried) >= limit {
			return false
		}
		s.tried[c.secret] = true
		if s.caller.Verify(c.secret, s.header, s.body) {
			s.secret = c.secret
			return true
		}
	}
	return false
}

// last orders false before true.
func last(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// keyOf is the id that a part is about.
func keyOf(kind provider.Kind, part provider.Part) claimKey {
	if part.NetworkID == "" {
		return claimKey{kind: kind, id: part.Group, group: true}
	}
	return claimKey{kind: kind, id: part.NetworkID}
}

// claimsOf returns the claims that have the secret that signed the body, of all
// ids that its parts are about.
func (r *Router) claimsOf(ctx context.Context, by *signer, parts []provider.Part) (map[claimKey][]claim, error) {
	var keys []claimKey
	fitting := map[claimKey][]claim{}
	for _, part := range parts {
		key := keyOf(by.kind, part)
		if _, seen := fitting[key]; key.id != "" && !seen {
			fitting[key] = nil
			keys = append(keys, key)
		}
	}
	known := r.claims.get(keys)
	var unknown []claimKey
	for _, key := range keys {
		fresh, read := by.fresh[key]
		if fitting[key] = by.fitting(known[key]); read {
			fitting[key] = by.fitting(fresh)
		}
		if !read && len(fitting[key]) == 0 {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return fitting, nil
	}
	found, complete, err := r.readClaims(ctx, by.kind, unknown, maxSigned)
	for _, key := range unknown {
		if err == nil && !complete(key) { // so many strangers claim these that each is read by itself
			var one map[claimKey][]claim
			one, _, err = r.readClaims(ctx, by.kind, []claimKey{key}, maxSigned)
			found[key] = one[key]
		}
		if err != nil {
			return nil, err
		}
		fitting[key] = by.fitting(found[key])
	}
	return fitting, nil
}

// fitting are the claims with the secret that signed the body.
func (s *signer) fitting(claims []claim) (out []claim) {
	for _, c := range claims {
		if c.secret == s.secret {
			out = append(out, c)
		}
	}
	return out
}

// claimRow is a reference with the id for which it was found.
type claimRow struct {
	store.Reference
	Key   string `db:"claimed"`
	Group bool   `db:"is_group"`
}

// readClaims reads the references of every account that claim one of keys, of
// each those that are to be tried first. It reads limit of references and of groups
// in all; complete says whether a key is among what was read.
func (r *Router) readClaims(ctx context.Context, kind provider.Kind, keys []claimKey, limit int) (found map[claimKey][]claim, complete func(claimKey) bool, err error) {
	began, epoch := time.Now(), r.claims.now()
	p, err := r.Store.Provider(kind)
	if err != nil {
		return nil, nil, err
	}
	var rows []claimRow
	query, args := r.claimQuery(kind, keys, limit+1)
	if err := r.Store.DB.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, nil, fmt.Errorf("finding the references of a callback: %w", err)
	}
	found = map[claimKey][]claim{}
	var cut [2]claimKey // that of which there are more: of references, of groups
	var count [2]int
	for i := range rows {
		key := claimKey{kind: kind, id: rows[i].Key, group: rows[i].Group}
		of, bound := 0, maxReference
		if key.group {
			of, bound = 1, maxGroup
		}
		if count[of]++; count[of] > limit {
			cut[of] = key
			continue
		}
		if len(found[key]) == bound {
			continue
		}
		c, err := r.claimOf(p, &rows[i].Reference)
		if err != nil {
			return nil, nil, err
		}
		found[key] = append(found[key], c)
	}
	complete = func(key claimKey) bool {
		of, bound := 0, maxReference
		if key.group {
			of, bound = 1, maxGroup
		}
		n := len(found[key])
		return count[of] <= limit || n == bound || n > 0 && key != cut[of]
	}
	whole := map[claimKey][]claim{}
	for key, claims := range found {
		if complete(key) || len(keys) == 1 {
			whole[key] = claims
		}
	}
	r.claims.keep(whole, began, epoch)
	return found, complete, nil
}

// ClaimQuery is what looks up the ids of references and of groups that a
// callback names.
func (r *Router) ClaimQuery(kind provider.Kind, refs, groups []string, limit int) (string, []any) {
	return r.claimQuery(kind, keysOf(kind, refs, groups), limit)
}

// keysOf are the keys of ids of references and of groups.
func keysOf(kind provider.Kind, refs, groups []string) []claimKey {
	keys := make([]claimKey, 0, len(refs)+len(groups))
	for _, id := range refs {
		keys = append(keys, claimKey{kind: kind, id: id})
	}
	for _, id := range groups {
		keys = append(keys, claimKey{kind: kind, id: id, group: true})
	}
	return keys
}

// claimQuery reads each kind of key by an index in whose order the claims are:
// how many there are does not matter.
func (r *Router) claimQuery(kind provider.Kind, keys []claimKey, limit int) (string, []any) {
	args := []any{kind}
	var query string
	for _, group := range []bool{false, true} {
		var ids []any
		for _, key := range keys {
			if key.group == group {
				ids = append(ids, key.id)
			}
		}
		if ids == nil {
			continue
		}
		column, flag := "line_key", "FALSE"
		if group {
			column, flag = "group_key", "TRUE"
		}
		in, values := r.Store.DB.Dialect.In(column, len(args)+1, ids)
		args = append(args, values...)
		if query != "" {
			query += ` UNION ALL `
		}
		query += fmt.Sprintf(`SELECT * FROM (SELECT %s, %s AS claimed, %s AS is_group FROM messaging_reference
			WHERE kind = $1 AND %s AND %[2]s <> '' ORDER BY %[2]s, kind, proved DESC, signed_us, id DESC LIMIT %[5]d) AS %[2]ss`,
			store.ReferenceColumns, column, flag, in, limit)
	}
	return query, args
}

func (r *Router) claimOf(p provider.Provider, row *store.Reference) (claim, error) {
	values, err := r.Settings.Open(p, row)
	if err != nil {
		return claim{}, err
	}
	caller := p.(provider.Caller)
	own, _ := caller.Secrets(values)
	secret, _ := caller.Secrets(settings.Effective(p, values))
	return claim{ref: row.Info(p), row: row, secret: secret, shared: own == "", proved: row.Proved, starting: row.State == payload.StateStarting}, nil
}
