package server_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// eachPair runs fn with two nodes on one database.
func eachPair(t *testing.T, fn func(t *testing.T, f, other fixture)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, setupOn(t, db, nil), setupOn(t, db, nil))
	})
}

// sessions are those of the caller by their kind; of is a query or "".
func (c client) sessions(t *testing.T, of string) map[string][]map[string]any {
	t.Helper()
	out := map[string][]map[string]any{}
	for _, it := range c.call(t, "GET", "/user/sessions"+of, "").json(200)["items"].([]any) {
		s := it.(map[string]any)
		out[s["kind"].(string)] = append(out[s["kind"].(string)], s)
	}
	return out
}

// on is the same caller on another node.
func (c client) on(f fixture) client { return client{f, c.token} }

func TestSessions(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, f, other fixture) {
		ana := f.as(t, "ana")
		in := f.do(t, "POST", "/user/login", logIn, "User-Agent", "Browser\t1")
		c := in.cookie()
		browser := []string{"Cookie", c.Name + "=" + c.Value}
		paired := client{f, in.json(200)["token"].(string)}
		_, program := ana.scoped(t, `["references.read"]`)

		all := ana.sessions(t, "")
		require.Len(t, all["token"], 1)
		require.Len(t, all["cookie"], 1)
		require.Len(t, all["scoped"], 1)
		require.Equal(t, true, all["token"][0]["current"])
		require.Equal(t, false, all["cookie"][0]["current"])
		require.Equal(t, "Browser1", all["cookie"][0]["userAgent"])
		require.NotEmpty(t, all["cookie"][0]["address"])
		require.Nil(t, all["scoped"][0]["lastUsedAt"])
		require.Equal(t, "Shop", all["scoped"][0]["name"])
		program.on(other).call(t, "GET", "/reference/list", "", "User-Agent", "Shop/2").json(200)
		used := ana.sessions(t, "")["scoped"][0]
		require.NotNil(t, used["lastUsedAt"])
		require.Equal(t, "Shop/2", used["userAgent"])

		id := all["cookie"][0]["id"].(string)
		other.do(t, "GET", "/user/me", "", browser...).json(200)
		ana.call(t, "DELETE", "/user/sessions/"+id, "").is(200, `{"success":true}`)
		other.do(t, "GET", "/user/me", "", browser...).problem(401, "unauthorized")
		paired.on(other).call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		ana.call(t, "DELETE", "/user/sessions/"+id, "").problem(404, "not_found")

		program.on(other).call(t, "GET", "/reference/list", "").json(200)
		ana.call(t, "DELETE", "/user/sessions", "").is(200, `{"success":true}`)
		program.on(other).call(t, "GET", "/reference/list", "").problem(401, "unauthorized")
		ana.on(other).call(t, "GET", "/user/me", "").json(200)
		require.Len(t, ana.sessions(t, ""), 1)
	})
}

// TestLogoutEndsTokens logs out on one node with a token that another node has
// just accepted.
func TestLogoutEndsTokens(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, f, other fixture) {
		ana := f.as(t, "ana")
		ana.on(other).call(t, "GET", "/user/me", "").json(200)
		ana.call(t, "POST", "/user/logout", "").json(200)
		ana.on(other).call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		ana.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		f.do(t, "POST", "/user/login", logIn).json(200)
	})
}

// TestRightsHoldAtOnce changes users on one node and asks another.
func TestRightsHoldAtOnce(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, f, other fixture) {
		ana := f.as(t, "ana")
		id, ben := ana.member(t, "ben", "references.read")
		there := ben.on(other)
		there.call(t, "GET", "/reference/list", "").json(200)
		ana.call(t, "PATCH", "/user/"+id, `{"role":"agent"}`).json(200)
		there.call(t, "GET", "/chats/list?reference=1", "").problem(404, "not_found")
		ana.call(t, "PATCH", "/user/"+id, `{"permissions":[]}`).json(200)
		there.call(t, "GET", "/reference/list", "").problem(403, "forbidden")
		require.Equal(t, true, ana.call(t, "PATCH", "/user/"+id, `{"disabled":true}`).json(200)["disabled"])
		there.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		f.do(t, "POST", "/user/login", `{"email":"ben@example.org","password":"correct horse"}`).problem(401, "unauthorized")
		ana.call(t, "PATCH", "/user/"+id, `{"disabled":false}`).json(200)
		there.call(t, "GET", "/user/me", "").json(200)
		ana.call(t, "DELETE", "/user/"+id, "").json(200)
		there.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
	})
}

func TestSessionsOfOthers(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, f, other fixture) {
		ana, stranger := f.as(t, "ana"), f.as(t, "stranger")
		boss := ana.call(t, "GET", "/user/me", "").json(200)["id"].(string)
		benID, ben := ana.member(t, "ben", "chats.read")
		_, manager := ana.member(t, "manager", "users.manage", "chats.read")
		_, admin := ana.member(t, "admin", "users.manage", "chats.read", "chats.send")
		adminID := admin.call(t, "GET", "/user/me", "").json(200)["id"].(string)
		of := func(id string) string { return "?user=" + id }
		session := func(c client) string { return c.sessions(t, "")["token"][0]["id"].(string) }

		require.Len(t, manager.sessions(t, of(benID))["token"], 1)
		ben.call(t, "GET", "/user/sessions"+of(boss), "").problem(403, "forbidden")
		ben.call(t, "DELETE", "/user/sessions"+of(boss), "").problem(403, "forbidden")
		ben.call(t, "DELETE", "/user/sessions/"+session(ana), "").problem(404, "not_found")
		for _, id := range []string{boss, adminID} {
			manager.call(t, "GET", "/user/sessions"+of(id), "").problem(403, "forbidden")
			manager.call(t, "DELETE", "/user/sessions"+of(id), "").problem(403, "forbidden")
		}
		for _, c := range []client{ana, admin} {
			manager.call(t, "DELETE", "/user/sessions/"+session(c), "").problem(403, "forbidden")
		}
		stranger.call(t, "GET", "/user/sessions"+of(benID), "").problem(404, "not_found")
		stranger.call(t, "DELETE", "/user/sessions"+of(benID), "").problem(404, "not_found")
		stranger.call(t, "DELETE", "/user/sessions/"+session(ben), "").problem(404, "not_found")
		ben.on(other).call(t, "GET", "/user/me", "").json(200)

		manager.call(t, "DELETE", "/user/sessions/"+session(ben), "").json(200)
		ben.on(other).call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		ana.call(t, "DELETE", "/user/sessions"+of(adminID), "").json(200)
		admin.on(other).call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		ana.call(t, "GET", "/user/sessions?limit=1", "").json(200)
		require.Equal(t, "query.cursor", ana.call(t, "GET", "/user/sessions?cursor=!", "").problem(422, "validation").Errors[0].Location)
	})
}

// TestAccountIsAnOwners has everybody but an owner try to delete an account.
func TestAccountIsAnOwners(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ana.call(t, "POST", "/user", `{"email":"admin@example.org","name":"A","password":"correct horse","role":"admin"}`).json(201)
		admin := client{f, f.do(t, "POST", "/user/login", `{"email":"admin@example.org","password":"correct horse"}`).json(200)["token"].(string)}
		body := fmt.Sprintf(`{"password":%q}`, pass)
		admin.call(t, "DELETE", "/account", body).problem(403, "forbidden")
		_, program := ana.scoped(t, `["users.manage"]`)
		program.call(t, "DELETE", "/account", body).problem(403, "forbidden")
		ana.call(t, "DELETE", "/account", `{"password":"wrong horse"}`).problem(422, "validation")
		c := f.do(t, "POST", "/user/login", logIn).cookie()
		f.do(t, "DELETE", "/account", body, "Cookie", c.Name+"="+c.Value).json(202)
		ana.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
		admin.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
	})
}
