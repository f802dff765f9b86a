package auth

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxPermissions is how many permissions a user or a token may have, so that
// a token with all of them fits into a header.
const MaxPermissions = 200

// On returns the permission p on one reference: "chats.read@17".
func (p Permission) On(reference int64) Permission {
	return p + Permission("@"+strconv.FormatInt(reference, 10))
}

// Split returns a permission without its limit, and the reference to which it
// is limited; 0: it is not limited. What is no reference id is not cut off.
func (p Permission) Split() (base Permission, reference int64) {
	name, id, limited := strings.Cut(string(p), "@")
	if !limited {
		return p, 0
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n < 1 || Permission(name).On(n) != p {
		return p, 0
	}
	return Permission(name), n
}

// Limitable says whether a permission can be limited to references. What
// concerns an account as a whole cannot: its users, its flows, which listen on
// any reference, and the right to call functions, each of which asks for its
// own permission.
func (p Permission) Limitable() bool {
	switch p {
	case UsersManage, FlowsManage, MCPExecute:
		return false
	}
	return slices.Contains(AllPermissions(), p)
}

// known says whether p is a permission of this version.
func (p Permission) known() bool {
	base, reference := p.Split()
	return slices.Contains(AllPermissions(), base) && (reference == 0 || base.Limitable())
}

// Covers says whether p is among the permissions has, or what p is limited
// from.
func Covers(has []Permission, p Permission) bool {
	base, _ := p.Split()
	return slices.Contains(has, p) || slices.Contains(has, base)
}

// Effective returns the permissions that are in both a and b. Of a permission
// and one that is limited, that is the limited one.
func Effective(a, b []Permission) []Permission {
	var out []Permission
	for _, p := range a {
		if Covers(b, p) {
			out = append(out, p)
		}
	}
	for _, p := range b {
		if Covers(a, p) {
			out = append(out, p)
		}
	}
	return inOrder(out)
}

// References returns on which references the permissions has include p, in
// ascending order, or that it is on all.
func References(has []Permission, p Permission) (ids []int64, all bool) {
	if slices.Contains(has, p) {
		return nil, true
	}
	for _, other := range has {
		if base, reference := other.Split(); base == p && reference != 0 {
			ids = append(ids, reference)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), false
}

// inOrder returns ps in the order of the catalogue and of references, each
// once. A limited permission is left out when the whole one is there.
func inOrder(ps []Permission) []Permission {
	all := AllPermissions()
	out := slices.DeleteFunc(slices.Clone(ps), func(p Permission) bool {
		base, reference := p.Split()
		return reference != 0 && slices.Contains(ps, base)
	})
	slices.SortFunc(out, func(a, b Permission) int {
		x, i := a.Split()
		y, j := b.Split()
		return cmp.Or(cmp.Compare(slices.Index(all, x), slices.Index(all, y)), cmp.Compare(i, j))
	})
	return append([]Permission{}, slices.Compact(out)...)
}

// normalPermissions are ps in order, or it returns [Invalid].
func normalPermissions(ps []Permission) ([]Permission, error) {
	var unlimited []string
	for _, p := range ps {
		base, reference := p.Split()
		if !slices.Contains(AllPermissions(), base) {
			return nil, &Invalid{Field: "permissions", Message: "must be permissions that exist: GET /user/permissions lists them"}
		}
		if reference != 0 && !base.Limitable() && !slices.Contains(unlimited, string(base)) {
			unlimited = append(unlimited, string(base))
		}
	}
	if len(unlimited) > 0 {
		return nil, &Invalid{Field: "permissions", Message: "cannot be limited to a reference: " + strings.Join(unlimited, ", ")}
	}
	out := inOrder(ps)
	if len(out) > MaxPermissions {
		return nil, &Invalid{Field: "permissions", Message: "must be at most " + strconv.Itoa(MaxPermissions)}
	}
	return out, nil
}

// checkReferences returns [Invalid] when a permission that is not in stored is
// limited to a reference that is not the account's.
func (s *Users) checkReferences(ctx context.Context, account string, ps, stored []Permission) error {
	var ids []int64
	for _, p := range ps {
		if _, reference := p.Split(); reference != 0 && !slices.Contains(stored, p) {
			ids = append(ids, reference)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	has := false
	if s.hasReferences != nil {
		var err error
		if has, err = s.hasReferences(ctx, account, slices.Compact(ids)); err != nil {
			return fmt.Errorf("looking for the references of permissions: %w", err)
		}
	}
	if !has {
		return &Invalid{Field: "permissions", Message: "are limited to a reference that does not exist in this account"}
	}
	return nil
}
