package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit/idp"
	"github.com/trunklinehq/trunkline/server"
)

var anaThere = idp.User{Subject: "id-of-ana", Email: "ana@example.org", Name: "Ana", Verified: true}

// withProvider is a server whose users sign in at a provider.
func withProvider(t *testing.T, change func(*server.Config)) (fixture, *idp.Provider) {
	t.Helper()
	there := idp.New(t, "http://localhost:3000/user/oidc/callback")
	there.LogIn(anaThere)
	return setup(t, func(c *server.Config) {
		c.OIDC = server.OIDC{Issuer: there.Issuer, ClientID: idp.ClientID, ClientSecret: idp.ClientSecret}
		if change != nil {
			change(c)
		}
	}), there
}

// browser keeps cookies.
type browser struct {
	f   fixture
	jar map[string]string
}

func (b *browser) get(t *testing.T, path string) answer {
	t.Helper()
	var all []string
	for name, value := range b.jar {
		all = append(all, name+"="+value)
	}
	a := b.f.do(t, "GET", path, "", "Cookie", strings.Join(all, "; "))
	b.keep(a)
	return a
}

func (b *browser) keep(a answer) {
	for _, c := range a.Result().Cookies() {
		if b.jar[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.jar, c.Name)
		}
	}
}

// signIn goes to the provider and comes back.
func (b *browser) signIn(t *testing.T, there *idp.Provider) answer {
	t.Helper()
	out := b.get(t, "/user/oidc/login")
	require.Equal(t, http.StatusFound, out.Code, out.Body.String())
	return b.get(t, "/user/oidc/callback?"+there.Authorize(t, out.Header().Get("Location")).Encode())
}

// refusedPage is a page for a person that says why.
func refusedPage(t *testing.T, a answer, status int, says string) {
	t.Helper()
	require.Equal(t, status, a.Code, a.Body.String())
	require.Equal(t, "text/html; charset=utf-8", a.Header().Get("Content-Type"))
	require.Contains(t, a.Body.String(), says)
	for _, c := range a.Result().Cookies() {
		require.Negative(t, c.MaxAge, "%s is set", c.Name)
	}
}

func newBrowser(f fixture) *browser { return &browser{f, map[string]string{}} }

// TestOIDC signs in at a provider: somebody new, who gets an account, and again
// with another e-mail.
func TestOIDC(t *testing.T) {
	t.Parallel()
	f, there := withProvider(t, nil)
	methods := f.do(t, "GET", "/user/methods", "").json(200)
	require.Equal(t, map[string]any{"name": "Single sign-on", "url": "http://localhost:3000/user/oidc/login"}, methods["oidc"])
	b := newBrowser(f)
	in := b.signIn(t, there)
	require.Equal(t, http.StatusFound, in.Code, in.Body.String())
	require.Equal(t, "http://localhost:3000/panel/", in.Header().Get("Location"))
	require.NotContains(t, b.jar, "trunkline-oidc", "the sign-in is over")
	me := b.get(t, "/user/me").json(200)
	require.Equal(t, "ana@example.org", me["email"])

	there.LogIn(idp.User{Subject: "id-of-ana", Email: "ana@new.example.org", Name: "Ana"})
	again := newBrowser(f)
	require.Equal(t, http.StatusFound, again.signIn(t, there).Code, "the subject says who it is")
	require.Equal(t, me["id"], again.get(t, "/user/me").json(200)["id"])
	f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct horse"}`).problem(401, "unauthorized")
}

// TestOIDC_Refused tries what is no sign-in of this browser.
func TestOIDC_Refused(t *testing.T) {
	t.Parallel()
	f, there := withProvider(t, nil)
	begin := func(b *browser) url.Values {
		out := b.get(t, "/user/oidc/login")
		return there.Authorize(t, out.Header().Get("Location"))
	}
	b := newBrowser(f)
	query := begin(b)
	refusedPage(t, newBrowser(f).get(t, "/user/oidc/callback?"+query.Encode()), 400, "started in another browser")
	wrong := url.Values{"state": {"x"}, "code": query["code"]}
	refusedPage(t, b.get(t, "/user/oidc/callback?"+wrong.Encode()), 400, "started in another browser")
	refusedPage(t, b.get(t, "/user/oidc/callback?"+query.Encode()), 400, "started in another browser")

	query = begin(b)
	flow := b.jar["trunkline-oidc"]
	require.Equal(t, http.StatusFound, b.get(t, "/user/oidc/callback?"+query.Encode()).Code)
	thief := newBrowser(f)
	thief.jar["trunkline-oidc"] = flow
	refusedPage(t, thief.get(t, "/user/oidc/callback?"+query.Encode()), 400, "not valid")

	query = begin(b)
	query.Set("error", "access_denied")
	refusedPage(t, b.get(t, "/user/oidc/callback?"+query.Encode()), 403, "refused the sign-in")
	there.LogIn(idp.User{Subject: "id-of-eve", Email: "eve@example.org", Name: "Eve"})
	refusedPage(t, newBrowser(f).signIn(t, there), 403, "not verified")
	there.Nonce("x")
	refusedPage(t, newBrowser(f).signIn(t, there), 400, "not valid")
}

// TestOIDC_ProviderIsDown starts and works without the provider.
func TestOIDC_ProviderIsDown(t *testing.T) {
	t.Parallel()
	f, there := withProvider(t, nil)
	there.Stop(true)
	refusedPage(t, newBrowser(f).get(t, "/user/oidc/login"), 502, "does not answer")
	there.Stop(false)
	require.Equal(t, http.StatusFound, newBrowser(f).signIn(t, there).Code)
}

// TestOIDC_ClosedSignUp lets those in who are there already, by an e-mail that
// the provider has verified.
func TestOIDC_ClosedSignUp(t *testing.T) {
	t.Parallel()
	f, there := withProvider(t, func(c *server.Config) { c.ClosedSignUp = true })
	boss := f.signUp(t, "boss@example.org")
	refusedPage(t, newBrowser(f).signIn(t, there), 403, "Ask for an invitation")
	f.do(t, "POST", "/user", `{"email":"ana@example.org","name":"Ana","password":"correct horse","permissions":["chats.read"]}`, "Authorization", "Bearer "+boss).json(201)
	b := newBrowser(f)
	require.Equal(t, http.StatusFound, b.signIn(t, there).Code)
	require.Equal(t, []any{"chats.read"}, b.get(t, "/user/me").json(200)["permissions"])

	there.LogIn(idp.User{Subject: "id-of-eve", Email: "boss@example.org", Name: "Eve"})
	refusedPage(t, newBrowser(f).signIn(t, there), 403, "not verified")
}

// TestOIDC_OpenSignUp gives nobody's account to whoever has taken the e-mail
// first.
func TestOIDC_OpenSignUp(t *testing.T) {
	t.Parallel()
	f, there := withProvider(t, nil)
	token := f.signUp(t, "ana@example.org")
	refusedPage(t, newBrowser(f).signIn(t, there), 409, "connect the sign-in service")

	b := newBrowser(f)
	require.Equal(t, []string{"body.password"}, locations(f.do(t, "POST", "/user/oidc/connect", `{"password":"wrong"}`, "Authorization", "Bearer "+token).problem(422, "validation")))
	started := f.do(t, "POST", "/user/oidc/connect", `{"password":"correct horse"}`, "Authorization", "Bearer "+token)
	b.keep(started)
	query := there.Authorize(t, started.json(200)["url"].(string))
	require.Equal(t, http.StatusFound, b.get(t, "/user/oidc/callback?"+query.Encode()).Code)
	require.NotContains(t, b.jar, "trunkline", "it is connected, and not signed in")
	require.Equal(t, http.StatusFound, b.signIn(t, there).Code)
	require.Equal(t, "ana@example.org", b.get(t, "/user/me").json(200)["email"])

	other := f.signUp(t, "ben@example.org")
	started = f.do(t, "POST", "/user/oidc/connect", `{"password":"correct horse"}`, "Authorization", "Bearer "+other)
	b.keep(started)
	query = there.Authorize(t, started.json(200)["url"].(string))
	refusedPage(t, b.get(t, "/user/oidc/callback?"+query.Encode()), 409, "Another user has connected this identity")
}

// TestOIDC_NewPassword takes a user back from somebody who knew the password: an
// identity that was connected with it does not sign in any more, and one that
// waits to be connected is refused.
func TestOIDC_NewPassword(t *testing.T) {
	t.Parallel()
	f, there := withProvider(t, nil)
	f.signUp(t, "ben@example.org")
	logIn := func(password string) string {
		return f.do(t, "POST", "/user/login", `{"email":"ben@example.org","password":"`+password+`"}`).json(200)["token"].(string)
	}
	connect := func(token, password string) (*browser, func() answer) {
		b := newBrowser(f)
		started := f.do(t, "POST", "/user/oidc/connect", `{"password":"`+password+`"}`, "Authorization", "Bearer "+token)
		b.keep(started)
		query := there.Authorize(t, started.json(200)["url"].(string))
		return b, func() answer { return b.get(t, "/user/oidc/callback?"+query.Encode()) }
	}
	token := logIn("correct horse")
	b, finish := connect(token, "correct horse")
	require.Equal(t, http.StatusFound, finish().Code)
	require.Equal(t, http.StatusFound, b.signIn(t, there).Code)
	me := b.get(t, "/user/me").json(200)
	require.Equal(t, "ben@example.org", me["email"])

	_, late := connect(token, "correct horse")
	f.do(t, "PATCH", "/user/"+me["id"].(string), `{"password":"another horse","currentPassword":"correct horse"}`, "Authorization", "Bearer "+token).json(200)
	refusedPage(t, late(), 403, "not logged in any more")
	other := newBrowser(f)
	require.Equal(t, http.StatusFound, other.signIn(t, there).Code)
	require.Equal(t, "ana@example.org", other.get(t, "/user/me").json(200)["email"], "it is somebody new")

	there.LogIn(idp.User{Subject: "id-of-ben", Email: "ben@example.org", Name: "Ben", Verified: true})
	mine := logIn("another horse")
	_, finish = connect(mine, "another horse")
	f.do(t, "POST", "/user/logout", "", "Authorization", "Bearer "+mine).json(200)
	refusedPage(t, finish(), 403, "not logged in any more")
	_, finish = connect(logIn("another horse"), "another horse")
	require.Equal(t, http.StatusFound, finish().Code)
}
