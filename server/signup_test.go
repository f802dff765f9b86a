package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// TestSignUpByMail signs up where the server sends mail: the answer does not
// say whose e-mail it is, the mail does.
func TestSignUpByMail(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		box := testkit.MailServer(t, testkit.MailOptions{})
		f := working(t, setupOn(t, db, func(c *server.Config) {
			c.SMTPURL, c.BaseURL = server.Secret("smtp://"+box.Addr+"?from=chat@example.org"), "https://chat.example.org"
		}))
		up := func(email string) answer {
			return f.do(t, "POST", "/user/signup", fmt.Sprintf(`{"email":%q,"password":"battery staple","name":"Visitor","cookie":true}`, email))
		}
		up("ana@example.org").json(201)
		known, unknown := up("ana@example.org"), up("ben@example.org")
		known.is(202, `{"success":true}`)
		unknown.is(202, `{"success":true}`)
		require.Equal(t, headerNames(known), headerNames(unknown))

		texts := map[string]string{}
		f.until(t, func() bool {
			for _, m := range box.Delivered(t) {
				texts[m.Get("To")] = m.Text
			}
			return len(texts) == 2
		})
		require.Contains(t, texts["<ana@example.org>"], "already has an account there")
		require.NotContains(t, texts["<ana@example.org>"], "#")
		_, token, found := strings.Cut(texts["<ben@example.org>"], "https://chat.example.org/panel/confirm#")
		require.True(t, found, texts)
		token = strings.Fields(token)[0]

		confirm := func(token, password string) answer {
			return f.do(t, "POST", "/user/signup/confirm", fmt.Sprintf(`{"token":%q,"password":%q,"cookie":true}`, token, password))
		}
		require.Equal(t, "body.password", confirm(token, "another password").problem(422, "validation").Errors[0].Location)
		require.Equal(t, "body.token", confirm("x", "battery staple").problem(422, "validation").Errors[0].Location)
		in := confirm(token, "battery staple")
		ben := client{f, in.json(201)["token"].(string)}
		f.do(t, "GET", "/user/me", "", "Cookie", in.cookie().Name+"="+in.cookie().Value).json(200)
		require.Equal(t, "body.token", confirm(token, "battery staple").problem(422, "validation").Errors[0].Location)
		require.Equal(t, []string{"account.create"}, actions(ben.audited(t, "")))
	})
}

// headerNames are the names of an answer's headers.
func headerNames(a answer) (names []string) {
	for name := range a.Header() {
		names = append(names, http.CanonicalHeaderKey(name))
	}
	slices.Sort(names)
	return names
}
