package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

func TestInvitations(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setupOn(t, db, func(c *server.Config) { c.ClosedSignUp, c.BaseURL = true, "https://chat.example.org" })
		ana := f.as(t, "ana")
		out := ana.call(t, "POST", "/user/invitation", `{"email":"cleo@example.org","role":"agent"}`).json(201)
		invited := out["invitation"].(map[string]any)
		link, token, _ := strings.Cut(out["link"].(string), "#")
		require.Equal(t, "https://chat.example.org/panel/invitation", link)
		require.Equal(t, "agent", invited["role"])
		require.Equal(t, []any{invited}, ana.call(t, "GET", "/user/invitation", "").json(200)["items"])
		ana.call(t, "POST", "/user/invitation", `{"email":"ana@example.org","role":"agent"}`).problem(409, "conflict")
		require.Equal(t, "body.permissions", ana.call(t, "POST", "/user/invitation", `{"email":"x@example.org"}`).problem(422, "validation").Errors[0].Location)
		require.Equal(t, "body.role", ana.call(t, "POST", "/user/invitation", `{"email":"x@example.org","role":"agent","permissions":[]}`).problem(422, "validation").Errors[0].Location)

		accept := func(token, name string) answer {
			return f.do(t, "POST", "/user/invitation/accept", fmt.Sprintf(`{"token":%q,"name":%q,"password":"battery staple","cookie":true}`, token, name))
		}
		require.Equal(t, "body.token", accept("x", "Cleo").problem(422, "validation").Errors[0].Location)
		f.do(t, "POST", "/user/signup", `{"email":"cleo@example.org","password":"battery staple","name":"Cleo"}`).problem(403, "forbidden")
		in := accept(token, "Cleo")
		require.Equal(t, "agent", in.json(201)["user"].(map[string]any)["role"])
		f.do(t, "GET", "/user/me", "", "Cookie", in.cookie().Name+"="+in.cookie().Value).json(200)
		cleo := client{f, in.json(201)["token"].(string)}
		cleo.call(t, "GET", "/user/invitation", "").problem(403, "forbidden")
		cleo.call(t, "POST", "/user/invitation", `{"email":"dan@example.org","role":"agent"}`).problem(403, "forbidden")
		require.Equal(t, "body.token", accept(token, "Cleo").problem(422, "validation").Errors[0].Location)

		out = ana.call(t, "POST", "/user/invitation", `{"email":"dan@example.org","name":"Dan","permissions":["chats.read"]}`).json(201)
		ana.call(t, "DELETE", "/user/invitation/"+out["invitation"].(map[string]any)["id"].(string), "").is(200, `{"success":true}`)
		_, token, _ = strings.Cut(out["link"].(string), "#")
		accept(token, "").problem(422, "validation")
	})
}
