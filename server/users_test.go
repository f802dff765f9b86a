package server_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

const pass = "correct horse"

// member adds a user to the client's account and logs him in.
func (c client) member(t *testing.T, name string, permissions ...string) (id string, user client) {
	t.Helper()
	quoted := "[]"
	if len(permissions) > 0 {
		quoted = `["` + strings.Join(permissions, `","`) + `"]`
	}
	id = c.call(t, "POST", "/user", fmt.Sprintf(`{"email":"%s@example.org","name":"Member","password":%q,"permissions":%s}`, name, pass, quoted)).
		json(201)["id"].(string)
	in := c.do(t, "POST", "/user/login", fmt.Sprintf(`{"email":"%s@example.org","password":%q}`, name, pass)).json(200)
	return id, client{c.fixture, in["token"].(string)}
}

// scoped makes a token for a program.
func (c client) scoped(t *testing.T, permissions string) (id string, program client) {
	t.Helper()
	made := c.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":"Shop","permissions":%s,"expiresAt":%d}`, permissions, time.Now().Add(time.Hour).Unix())).
		is(201, `{"id":"<uuid>","token":"<text>"}`)
	return made["id"].(string), client{c.fixture, made["token"].(string)}
}

func eachServer(t *testing.T, fn func(t *testing.T, f fixture)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, setupOn(t, db, nil))
	})
}

func TestUsersOfAnAccount(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, f fixture) {
		ana, other := f.as(t, "ana"), f.as(t, "other")
		account := ana.call(t, "GET", "/user/me", "").json(200)["accountId"].(string)
		user := func(email, permissions string) string {
			return fmt.Sprintf(`{"id":"<uuid>","accountId":%q,"email":%q,"name":"Member","permissions":%s,"role":null,"disabled":false,"createdAt":"<now>"}`, account, email, permissions)
		}
		ana.call(t, "POST", "/user", `{"email":"Cleo@example.org","name":"Member","password":"correct horse","permissions":[]}`).is(201, user("cleo@example.org", "[]"))
		ben, his := ana.member(t, "ben", "chats.send", "chats.read")
		ana.call(t, "POST", "/user", `{"email":"ben@example.org","name":"B","password":"correct horse","permissions":[]}`).problem(409, "conflict")
		p := ana.call(t, "POST", "/user", `{"email":"d@example.org","name":"D","password":"correct horse","permissions":["chats.fly"]}`).problem(422, "validation")
		require.Equal(t, "body.permissions", p.Errors[0].Location)

		first := ana.call(t, "GET", "/user/list?limit=2", "").json(200)
		require.Len(t, first["items"], 2)
		rest := ana.call(t, "GET", "/user/list?cursor="+first["next"].(string), "").is(200, `{"items":[`+user("ben@example.org", `["chats.read","chats.send"]`)+`],"next":null}`)
		require.Len(t, rest["items"], 1)
		require.Len(t, other.call(t, "GET", "/user/list", "").json(200)["items"], 1)
		require.Equal(t, "query.cursor", ana.call(t, "GET", "/user/list?cursor=!", "").problem(422, "validation").Errors[0].Location)
		his.call(t, "GET", "/user/list", "").problem(403, "forbidden")
		his.call(t, "POST", "/user", "{").problem(403, "forbidden")
		his.call(t, "DELETE", "/user/"+ben, "").problem(403, "forbidden")

		other.call(t, "PATCH", "/user/"+ben, `{"name":"X"}`).problem(404, "not_found")
		other.call(t, "DELETE", "/user/"+ben, "").problem(404, "not_found")
		ana.call(t, "PATCH", "/user/"+ben, `{"name":"Member","permissions":["usage.read"]}`).is(200, user("ben@example.org", `["usage.read"]`))
		his.call(t, "GET", "/user/me", "").is(200, user("ben@example.org", `["usage.read"]`))
		ana.call(t, "DELETE", "/user/"+ben, "").is(200, `{"success":true}`)
		his.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		me := ana.call(t, "GET", "/user/me", "").json(200)["id"].(string)
		ana.call(t, "DELETE", "/user/"+me, "").problem(409, "last_owner")
		for _, body := range []string{`{"permissions":[]}`, `{"role":"admin"}`, `{"disabled":true}`} {
			ana.call(t, "PATCH", "/user/"+me, body).problem(409, "last_owner")
		}
	})
}

// TestOwnUser changes oneself.
func TestOwnUser(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		id, ben := ana.member(t, "ben", "chats.read")
		boss := ana.call(t, "GET", "/user/me", "").json(200)["id"].(string)
		path := "/user/" + id
		require.Equal(t, "Benjamin", ben.call(t, "PATCH", path, `{"name":"Benjamin"}`).json(200)["name"])
		for _, body := range []string{`{"password":"another password"}`, `{"email":"b@example.org"}`, `{"password":"another password","currentPassword":"wrong"}`} {
			p := ben.call(t, "PATCH", path, body).problem(422, "validation")
			require.Equal(t, "body.currentPassword", p.Errors[0].Location)
		}
		ben.call(t, "PATCH", path, `{"permissions":["chats.read"]}`).problem(403, "forbidden")
		for _, body := range []string{`{"name":"X"}`, `{"name":1}`, `{`, ``} {
			ben.call(t, "PATCH", "/user/"+boss, body).problem(403, "forbidden")
			ben.call(t, "PATCH", "/user/nobody", body).problem(403, "forbidden")
		}
		ben.call(t, "PATCH", path, `{"email":"benno@example.org","currentPassword":"correct horse"}`).json(200)
		ben.call(t, "PATCH", path, `{"password":"another password","currentPassword":"correct horse"}`).json(200)
		ben.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		f.do(t, "POST", "/user/login", `{"email":"benno@example.org","password":"another password"}`).json(200)

		_, manager := ana.member(t, "manager", "users.manage")
		p := manager.call(t, "PATCH", "/user/"+boss, `{"password":"another password"}`).problem(403, "forbidden")
		require.Contains(t, p.Detail, "only an owner")
		manager.call(t, "PATCH", path, `{"permissions":["bots.manage"]}`).problem(403, "forbidden")
	})
}

func TestScopedTokens(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		id, program := ana.scoped(t, `["users.manage","references.read"]`)
		list := ana.call(t, "GET", "/user/token", "").is(200, `{"items":[
			{"id":"<uuid>","name":"Shop","permissions":["users.manage","references.read"],"expiresAt":"<later>","createdAt":"<now>"}],"next":null}`)
		require.Equal(t, id, list["items"].([]any)[0].(map[string]any)["id"])
		program.call(t, "GET", "/reference/list", "").json(200)
		program.call(t, "GET", "/user/list", "").json(200)
		program.call(t, "GET", "/user/me", "").json(200)
		require.Equal(t, []any{"users.manage", "references.read"}, program.call(t, "GET", "/user/permissions", "").json(200)["permissions"])
		p := program.call(t, "GET", "/templates?reference=1", "").problem(403, "forbidden")
		require.Contains(t, p.Detail, "chats.read")
		me := ana.call(t, "GET", "/user/me", "").json(200)["id"].(string)
		for _, c := range [][3]string{
			{"PATCH", "/user/" + me, `{"name":"X"}`},
			{"POST", "/user", "{"},
			{"DELETE", "/user/x", ""},
			{"GET", "/user/token", ""},
			{"POST", "/user/token", "{"},
			{"DELETE", "/user/token/" + id, ""},
			{"DELETE", "/account", "{"},
		} {
			p := program.call(t, c[0], c[1], c[2]).problem(403, "forbidden")
			require.Contains(t, p.Detail, "scoped token", c)
		}
		_, ben := ana.member(t, "ben", "chats.read")
		ben.call(t, "DELETE", "/user/token/"+id, "").problem(404, "not_found")
		ben.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":"x","permissions":["chats.send"],"expiresAt":%d}`, time.Now().Add(time.Hour).Unix())).problem(403, "forbidden")
		for field, body := range map[string]string{
			"permissions": `{"name":"x","permissions":[],"expiresAt":4000000000}`, "expiresAt": `{"name":"x","permissions":["chats.read"],"expiresAt":4000000000}`,
		} {
			require.Equal(t, "body."+field, ana.call(t, "POST", "/user/token", body).problem(422, "validation").Errors[0].Location)
		}
		ana.call(t, "DELETE", "/user/token/"+id, "").is(200, `{"success":true}`)
		program.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		_, program = ana.scoped(t, `["references.read"]`)
		program.call(t, "POST", "/user/logout", "").json(200)
		program.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
	})
}

func TestPermissionCatalogue(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	_, ben := ana.member(t, "ben", "chats.read")
	all := ana.call(t, "GET", "/user/permissions", "").json(200)
	require.Len(t, all["permissions"], 13)
	require.Len(t, all["catalogue"], 13)
	for i, d := range all["catalogue"].([]any) {
		require.Equal(t, all["permissions"].([]any)[i], d.(map[string]any)["name"])
		require.NotEmpty(t, d.(map[string]any)["description"])
	}
	roles := map[string]any{}
	for _, r := range all["roles"].([]any) {
		roles[r.(map[string]any)["name"].(string)] = r.(map[string]any)["permissions"]
	}
	require.Len(t, roles, 5)
	require.Equal(t, all["permissions"], roles["owner"])
	for name, ps := range roles {
		body := fmt.Sprintf(`{"email":"%s@example.org","name":"R","password":"correct horse","role":%q}`, name, name)
		u := ana.call(t, "POST", "/user", body).json(201)
		require.Equal(t, name, u["role"])
		require.Equal(t, ps, u["permissions"])
	}
	require.Equal(t, []any{"chats.read"}, ben.call(t, "GET", "/user/permissions", "").json(200)["permissions"])
}

// TestResetOverHTTP asks without a mail server: the answer is the same, and
// nothing is sent.
func TestResetOverHTTP(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.as(t, "ana")
	for _, email := range []string{"ana@example.org", "nobody@example.org"} {
		f.do(t, "POST", "/user/reset", fmt.Sprintf(`{"email":%q}`, email)).is(202, `{"success":true}`)
	}
	for location, body := range map[string]string{
		"body.email":    `{}`,
		"body.token":    `{"token":"x","password":"correct horse"}`,
		"body.password": `{"token":"x"}`,
		"body.hush":     `{"email":"ana@example.org","hush":1}`,
	} {
		require.Equal(t, location, f.do(t, "POST", "/user/reset", body).problem(422, "validation").Errors[0].Location)
	}
	f.do(t, "POST", "/user/reset", `{"email":"ana@example.org","token":"x"}`).problem(422, "validation")
	f.do(t, "POST", "/user/reset", `{"email":"no address"}`).problem(422, "validation")
}

// TestPublicPostsAreLimited counts sign-up, login and reset of an address
// together.
func TestPublicPostsAreLimited(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	from := func(address, path string) answer { return f.do(t, "POST", path, `{}`, "X-Forwarded-For", address) }
	for i := range 60 {
		from("2001:db8::1", []string{"/user/reset", "/user/login", "/user/signup"}[i%3]).problem(422, "validation")
	}
	from("2001:db8::ffff", "/user/reset").problem(429, "rate_limited")
	from("2001:db8:0:1::1", "/user/reset").problem(422, "validation")
}
