package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// cookie is the one cookie that an answer sets, beside that of the browser.
func (a answer) cookie() *http.Cookie {
	a.t.Helper()
	all := slices.DeleteFunc(a.Result().Cookies(), func(c *http.Cookie) bool { return strings.HasSuffix(c.Name, "-device") })
	require.Len(a.t, all, 1)
	return all[0]
}

const logIn = `{"email":"ana@example.org","password":"correct horse","cookie":true}`

func TestCookieIsSet(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"":                           "trunkline=V; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict",
		"http://chat.internal:3000":  "trunkline=V; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict",
		"https://chat.example.org":   "__Host-trunkline=V; Path=/; Max-Age=604800; HttpOnly; Secure; SameSite=Strict",
		"https://example.org/chat/x": "__Host-trunkline=V; Path=/; Max-Age=604800; HttpOnly; Secure; SameSite=Strict",
	} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			f := setup(t, func(c *server.Config) { c.BaseURL = base })
			up := f.do(t, "POST", "/user/signup", `{"email":"ana@example.org","password":"correct horse","name":"Ana","cookie":true}`)
			up.json(201)
			in := f.do(t, "POST", "/user/login", logIn)
			in.json(200)
			for _, a := range []answer{up, in} {
				c := a.cookie()
				require.GreaterOrEqual(t, len(c.Value), 43)
				require.Equal(t, want, strings.Replace(a.Header().Get("Set-Cookie"), c.Value, "V", 1))
				me := f.do(t, "GET", "/user/me", "", "Cookie", c.Name+"="+c.Value)
				require.Equal(t, "ana@example.org", me.json(200)["email"])
				require.Empty(t, me.Result().Cookies())
			}
			for _, name := range []string{"session", "__Host-trunkline2", map[bool]string{true: "trunkline", false: "__Host-trunkline"}[strings.HasPrefix(base, "https")]} {
				f.do(t, "GET", "/user/me", "", "Cookie", name+"="+in.cookie().Value).problem(401, "unauthorized")
			}
			plain := f.do(t, "POST", "/user/login", strings.Replace(logIn, "true", "false", 1))
			plain.json(200)
			require.Empty(t, plain.Result().Cookies())
		})
	}
}

// TestForeignPages has pages of other sites make requests with the cookie.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setupOn(t, db, func(c *server.Config) { c.BaseURL = "https://chat.example.org" })
		ana := f.as(t, "ana")
		c := f.do(t, "POST", "/user/login", logIn).cookie()
		cookie := []string{"Cookie", c.Name + "=" + c.Value, "Host", "chat.example.org"}
		add := func(header ...string) answer {
			return f.do(t, "POST", "/reference", `{"name":"Shop","type":"provider-sandbox"}`, append(header, cookie...)...)
		}
		for _, header := range [][]string{
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Sec-Fetch-Site", "cross-site", "Origin", "null"},
			{"Origin", "https://evil.example.org"},
			{"Origin", "null"},
			{"Origin", "http://chat.example.org.evil.org"},
			{"Sec-Fetch-Site", "same-site", "Origin", "https://shop.example.org"},
			{"Sec-Fetch-Site", "cross-site", "Authorization", "Basic YW5hOng="},
			{"Origin", "https://evil.example.org", "Authorization", "Bearer "},
		} {
			p := add(header...).problem(403, "forbidden")
			require.Contains(t, p.Detail, "cookie", header)
			f.do(t, "GET", "/reference/list", "", append(header, cookie...)...).json(200)
			f.do(t, "HEAD", "/reference/list", "", append(header, cookie...)...)
			f.do(t, "POST", "/user/logout", "", append(header, cookie...)...).problem(403, "forbidden")
			f.do(t, "POST", "/user/login", logIn, header...).problem(403, "forbidden")
			f.do(t, "POST", "/user/signup", `{"email":"b@example.org","password":"correct horse","name":"B","cookie":true}`, header...).problem(403, "forbidden")
		}
		require.Empty(t, ana.call(t, "GET", "/reference/list", "").json(200)["items"])
		for _, header := range [][]string{
			{},
			{"Sec-Fetch-Site", "same-origin"},
			{"Sec-Fetch-Site", "none"},
			{"Origin", "https://chat.example.org"},
			{"Sec-Fetch-Site", "cross-site", "Authorization", "Bearer " + ana.token},
		} {
			add(header...).json(201)
		}
		f.do(t, "POST", "/reference", `{}`, append(cookie, "Authorization", "Bearer x.y.z")...).problem(401, "unauthorized")
	})
}

func TestLogout(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		one, two := f.do(t, "POST", "/user/login", logIn).cookie(), f.do(t, "POST", "/user/login", logIn).cookie()
		header := func(c *http.Cookie) []string { return []string{"Cookie", c.Name + "=" + c.Value} }
		out := f.do(t, "POST", "/user/logout", "", header(one)...)
		out.is(200, `{"success":true}`)
		require.Equal(t, "trunkline=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", out.Header().Get("Set-Cookie"))
		f.do(t, "GET", "/user/me", "", header(one)...).problem(401, "unauthorized")
		f.do(t, "POST", "/user/logout", "", header(one)...).problem(401, "unauthorized")
		f.do(t, "GET", "/user/me", "", header(two)...).json(200)
		ana.call(t, "POST", "/user/logout", "", header(two)...).json(200)
		f.do(t, "GET", "/user/me", "", header(two)...).problem(401, "unauthorized")
		ana.call(t, "GET", "/user/me", "").problem(401, "unauthorized")
	})
}

// TestCookieIsAPerson sends as a person in a browser does, and as a program:
// the bot makes way for the person alone.
func TestCookieIsAPerson(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		require.Equal(t, "api", ana.send(t, ref, "by bearer")["actor"])
		handoff := func() any {
			return ana.call(t, "GET", "/chats/list?reference=1", "").json(200)["items"].([]any)[0].(map[string]any)["handoff"]
		}
		require.Nil(t, handoff())
		c := f.do(t, "POST", "/user/login", logIn).cookie()
		sent := f.do(t, "POST", "/chats/send", sendBody(ref, "ana", `{"type":"text","text":"by hand"}`), "Cookie", c.Name+"="+c.Value).json(200)
		require.Equal(t, "user", sent["message"].(map[string]any)["actor"])
		require.NotNil(t, handoff())
	})
}

// TestLogoutEndsStreams ends what a browser follows on one node when it logs
// out on another.
func TestLogoutEndsStreams(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, other := working(t, setupOn(t, db, nil)), setupOn(t, db, nil)
		ana := f.as(t, "ana")
		c := f.do(t, "POST", "/user/login", logIn).cookie()
		cookie := []string{"Cookie", c.Name + "=" + c.Value}
		s := ana.follow(t, listening(t, f), "", append(cookie, "Authorization", "")...).ready(t)
		ana.write(t, ana.sandbox(t), "ana", "Hello")
		require.Equal(t, "Hello", s.next(t, "message").text())
		other.do(t, "POST", "/user/logout", "", cookie...).json(200)
		s.ended(t)
	})
}
