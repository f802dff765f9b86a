package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth"
)

// wrong is a kind of caller who must not do what it asks for.
type wrong struct {
	name string
	// shots are its requests of an operation and what the document says comes of
	// them; none: to this operation, such a caller is not wrong.
	shots func(t *testing.T, op documented) []shot
}

// TestWrongCallers has every kind of wrong caller ask every operation for what
// belongs to somebody else: each is refused as the document says, is told
// nothing, and leaves what is stored as it was.
func TestWrongCallers(t *testing.T) {
	t.Parallel()
	onDoors(t, func(t *testing.T, f fixture, db *sqlx.DB) {
		m := newMatrix(t, f, db)
		kinds := m.kinds(t)
		require.GreaterOrEqual(t, len(kinds), 35)
		total := m.others(t)
		for _, kind := range kinds {
			before, requests := m.ground(t), 0
			for _, op := range m.ops {
				for _, s := range kind.shots(t, op) {
					s.why, s.op = kind.name, op
					m.ask(t, s)
					requests++
				}
			}
			require.Greater(t, requests, 5, kind.name)
			for table, rows := range m.ground(t) {
				require.Equal(t, before[table], rows, "%s: something has come of it in %s", kind.name, table)
			}
			total += requests
		}
		public := m.publicly(t)
		t.Logf("%d operations, %d kinds of wrong callers: %d requests, and %d of public operations", len(m.ops), len(kinds)+1, total, public)
		require.Greater(t, total, len(m.ops)*25)
	})
}

// need is the permission that an operation needs by the document, or "".
func (op documented) need() auth.Permission {
	if len(op.Security) == 0 || len(op.Security[0]["bearer"]) == 0 {
		return ""
	}
	return auth.Permission(op.Security[0]["bearer"][0])
}

// kinds are the wrong callers but the owner of another account, who is not
// refused but finds nothing: see [matrix.strangers].
func (m *matrix) kinds(t *testing.T) []wrong {
	t.Helper()
	bad, genuine := forgeries(t, m.token)
	require.Equal(t, 200, m.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+genuine).Code)
	cookie := m.signIn(t).cookie()
	good := cookie.Name + "=" + cookie.Value
	out := m.signIn(t).cookie()
	m.do(t, "POST", "/user/logout", "", "Cookie", out.Name+"="+out.Value).json(200)
	ended := m.ended(t)
	_, program := m.client.scoped(t, string(encode(t, auth.AllPermissions())))
	expired, opened := forgeries(t, program.token)
	require.Equal(t, 200, m.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+opened).Code)
	_, none := m.member(t, "none")
	_, limited := m.member(t, "limited", words(limitedTo(m.sandbox(t)))...)

	kinds := []wrong{
		{"no token", nobody(http.Header{})},
		{"empty bearer", nobody(http.Header{"Authorization": {"Bearer "}})},
		{"bearer without a token", nobody(http.Header{"Authorization": {"Bearer"}})},
		{"basic scheme", nobody(http.Header{"Authorization": {"Basic " + m.token}})},
		{"lower-case scheme with garbage", nobody(http.Header{"Authorization": {"bearer x.y.z"}})},
		{"two headers, the first wrong", nobody(http.Header{"Authorization": {"Bearer x.y.z", "Bearer " + m.token}})},
		{"two headers, the second wrong", nobody(http.Header{"Authorization": {"Bearer " + m.token, "Bearer x.y.z"}})},
		{"token in the query", func(t *testing.T, op documented) []shot {
			shots := nobody(http.Header{})(t, op)
			for i := range shots {
				shots[i].query = with(with(m.request(t, op).query, "token", m.token), "access_token", m.token)
			}
			return shots
		}},
		{"token as the cookie", nobody(http.Header{"Cookie": {cookie.Name + "=" + m.token}})},
		{"cookie of garbage", nobody(http.Header{"Cookie": {cookie.Name + "=" + strings.Repeat("x", 43)}})},
		{"cookie of a session that was logged out", nobody(http.Header{"Cookie": {out.Name + "=" + out.Value}})},
		{"garbage beside a good cookie", nobody(http.Header{"Cookie": {good}, "Authorization": {"Bearer x.y.z"}})},
		{"good cookie, from another site", foreignly(http.Header{"Cookie": {good}, "Origin": {"https://evil.example"}})},
		{"good cookie, from another host of the site", foreignly(http.Header{"Cookie": {good}, "Sec-Fetch-Site": {"same-site"}})},
		{"expired scoped token", nobody(bearer(expired["expired"]))},
		{"scoped token as that of a log-in", nobody(bearer(m.unscoped(t, program.token)))},
		{"scoped token where a log-in is needed", func(_ *testing.T, op documented) []shot {
			if !op.LoginOnly {
				return nil
			}
			return []shot{{header: bearer(program.token), statuses: []int{403}}}
		}},
		{"user without any permission", m.lacking(func(auth.Permission) http.Header { return bearer(none.token) })},
		{"user with permissions on another reference", m.limited(limited.token)},
	}
	for name, token := range bad {
		kinds = append(kinds, wrong{"token: " + name, nobody(bearer(token))})
	}
	for name, token := range ended {
		kinds = append(kinds, wrong{"token: " + name, nobody(bearer(token))})
	}
	kinds = append(kinds, m.withoutOne(t)...)
	slices.SortFunc(kinds, func(a, b wrong) int { return strings.Compare(a.name, b.name) })
	return kinds
}

// words are permissions as texts.
func words(permissions []auth.Permission) []string {
	var out []string
	for _, p := range permissions {
		out = append(out, string(p))
	}
	return out
}

// nobody is a caller who is nobody: 401 wherever the document asks for a
// token.
func nobody(h http.Header) func(*testing.T, documented) []shot {
	return func(_ *testing.T, op documented) []shot {
		if len(op.Security) == 0 {
			return nil
		}
		return []shot{{header: h.Clone(), nobody: true, statuses: []int{401}}}
	}
}

// foreignly is a page of another site: what changes something is refused.
func foreignly(h http.Header) func(*testing.T, documented) []shot {
	return func(_ *testing.T, op documented) []shot {
		if len(op.Security) == 0 || op.method == http.MethodGet {
			return nil
		}
		return []shot{{header: h.Clone(), nobody: true, statuses: []int{403}}}
	}
}

// lacking is a user of the account who has not the permission that an
// operation needs. What needs none is wrong when only owners may do it, or when
// it names something of another user.
func (m *matrix) lacking(of func(auth.Permission) http.Header) func(*testing.T, documented) []shot {
	return func(_ *testing.T, op documented) []shot {
		switch need := op.need(); {
		case need != "" || op.OwnerOnly:
			return []shot{{header: of(need), statuses: []int{403}}}
		case op.LoginOnly && strings.Contains(op.path, "{"):
			return []shot{{header: of(need), statuses: []int{403, 404}}}
		}
		return nil
	}
}

// limited is a user whose permissions are on another reference than what it
// asks for.
func (m *matrix) limited(token string) func(*testing.T, documented) []shot {
	lacking := m.lacking(func(auth.Permission) http.Header { return bearer(token) })
	return func(t *testing.T, op documented) []shot {
		if op.need() == "" || !op.need().Limitable() || slices.Contains(op.References, "account") {
			return lacking(t, op)
		}
		s := m.request(t, op)
		s.header, s.statuses = bearer(token), m.nothing(op, s)
		return []shot{s}
	}
}

// withoutOne are callers who have every permission but the one that an
// operation needs: a user, its cookie, a program, and a program whose user has
// lost it.
func (m *matrix) withoutOne(t *testing.T) []wrong {
	t.Helper()
	user, browser, program, lost := map[auth.Permission]http.Header{}, map[auth.Permission]http.Header{}, map[auth.Permission]http.Header{}, map[auth.Permission]http.Header{}
	for i, p := range auth.AllPermissions() {
		rest := slices.DeleteFunc(auth.AllPermissions(), func(o auth.Permission) bool { return o == p })
		name := fmt.Sprintf("without%d", i)
		id, c := m.member(t, name, words(auth.AllPermissions())...)
		_, all := c.scoped(t, string(encode(t, auth.AllPermissions())))
		m.call(t, "PATCH", "/user/"+id, fmt.Sprintf(`{"permissions":%s}`, encode(t, rest))).json(200)
		in := m.do(t, "POST", "/user/login", fmt.Sprintf(`{"email":"%s@example.org","password":%q,"cookie":true}`, name, pass)).cookie()
		_, some := m.client.scoped(t, string(encode(t, rest)))
		user[p], browser[p] = bearer(c.token), http.Header{"Cookie": {in.Name + "=" + in.Value}}
		program[p], lost[p] = bearer(some.token), bearer(all.token)
	}
	of := func(headers map[auth.Permission]http.Header) func(*testing.T, documented) []shot {
		return func(_ *testing.T, op documented) []shot {
			if op.need() == "" {
				return nil
			}
			return []shot{{header: headers[op.need()].Clone(), nobody: true, statuses: []int{403}}}
		}
	}
	return []wrong{
		{"user with all permissions but this", of(user)},
		{"cookie of a user with all permissions but this", of(browser)},
		{"scoped token without the permission", of(program)},
		{"scoped token whose user has lost the permission", of(lost)},
	}
}
