package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testkit/totp"
	"github.com/trunklinehq/trunkline/server"
)

// here is the site of a fixture, as a browser sees it.
var here = virtualwebauthn.RelyingParty{ID: "localhost", Name: "Trunkline", Origin: "http://localhost:3000"}

// device is an authenticator with one passkey, in a browser at a site.
type device struct {
	site virtualwebauthn.RelyingParty
	is   virtualwebauthn.Authenticator
	key  virtualwebauthn.Credential
}

func newDevice() *device {
	for {
		key := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if len(key.Key.AttestationData()) == wholeKey {
			return &device{here, virtualwebauthn.NewAuthenticator(), key}
		}
	}
}

// wholeKey is how many bytes a public key has in COSE. The library leaves the zeros
// out with which a coordinate may begin, which makes a key that is none.
const wholeKey = 77

// make answers the options for a new passkey.
func (d *device) make(t *testing.T, options map[string]any) string {
	t.Helper()
	b, err := json.Marshal(options)
	require.NoError(t, err)
	o, err := virtualwebauthn.ParseAttestationOptions(string(b))
	require.NoError(t, err)
	d.is.Options.UserHandle = []byte(o.UserID)
	return virtualwebauthn.CreateAttestationResponse(d.site, d.is, d.key, *o)
}

// sign answers the options for a log-in.
func (d *device) sign(t *testing.T, options map[string]any) string {
	t.Helper()
	b, err := json.Marshal(options)
	require.NoError(t, err)
	o, err := virtualwebauthn.ParseAssertionOptions(string(b))
	require.NoError(t, err)
	d.key.Counter++
	return virtualwebauthn.CreateAssertionResponse(d.site, d.is, d.key, *o)
}

// passkeys is a server, its clock, and a user there.
type passkeys struct {
	fixture
	bearer []string // of the user
	me     string   // id of the user
	mu     sync.Mutex
	at     time.Time
}

func (p *passkeys) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

func (p *passkeys) wait(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = p.at.Add(d)
}

func withPasskeys(t *testing.T, db *sqlx.DB) *passkeys {
	t.Helper()
	p := &passkeys{at: time.Unix(1_900_000_000, 0)}
	p.fixture = setupOn(t, db, func(c *server.Config) { c.Now = p.now })
	p.bearer = []string{"Authorization", "Bearer " + p.signUp(t, "ana@example.org")}
	p.me = p.do(t, "GET", "/user/me", "", p.bearer...).json(200)["id"].(string)
	return p
}

func eachPasskeys(t *testing.T, fn func(t *testing.T, p *passkeys)) {
	t.Helper()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, withPasskeys(t, db))
	})
}

func publicKey(a answer) map[string]any { return a.json(201)["publicKey"].(map[string]any) }

// begin asks for the options of a new passkey.
func (p *passkeys) begin(t *testing.T, bearer ...string) map[string]any {
	t.Helper()
	return publicKey(p.do(t, "POST", "/user/passkeys/begin", `{"password":"correct horse"}`, bearer...))
}

func (p *passkeys) send(t *testing.T, name, credential string, bearer ...string) answer {
	t.Helper()
	return p.do(t, "POST", "/user/passkeys", fmt.Sprintf(`{"name":%q,"credential":%s}`, name, credential), bearer...)
}

// add gives the user a passkey.
func (p *passkeys) add(t *testing.T, name string) (id string, d *device) {
	t.Helper()
	d = newDevice()
	return p.send(t, name, d.make(t, p.begin(t, p.bearer...)), p.bearer...).json(201)["id"].(string), d
}

// passkey gives a caller a passkey, and returns its id.
func (c client) passkey(t *testing.T) string {
	t.Helper()
	options := publicKey(c.call(t, "POST", "/user/passkeys/begin", `{"password":"correct horse"}`))
	return c.call(t, "POST", "/user/passkeys", fmt.Sprintf(`{"name":"Phone","credential":%s}`, newDevice().make(t, options))).json(201)["id"].(string)
}

func (p *passkeys) beginLogin(t *testing.T) map[string]any {
	t.Helper()
	return publicKey(p.do(t, "POST", "/user/login/passkey/begin", ""))
}

func logInWith(t *testing.T, f fixture, credential string) answer {
	t.Helper()
	return f.do(t, "POST", "/user/login/passkey", `{"cookie":true,"credential":`+credential+`}`)
}

// logIn logs in with a device.
func (p *passkeys) logIn(t *testing.T, d *device) answer {
	t.Helper()
	return logInWith(t, p.fixture, d.sign(t, p.beginLogin(t)))
}

// audited are the details of an action, the oldest first.
func (p *passkeys) audited(t *testing.T, action string) (out []string) {
	t.Helper()
	for _, one := range p.do(t, "GET", "/audit?action="+action, "", p.bearer...).json(200)["items"].([]any) {
		b, err := json.Marshal(one.(map[string]any)["details"])
		require.NoError(t, err)
		out = append([]string{string(b)}, out...)
	}
	return out
}

// TestPasskeys adds a passkey, logs in with it alone, and removes it.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	eachPasskeys(t, func(t *testing.T, p *passkeys) {
		require.Equal(t, true, p.do(t, "GET", "/user/methods", "").json(200)["passkeys"])
		require.Equal(t, []string{"body.password"}, locations(p.do(t, "POST", "/user/passkeys/begin", `{"password":"wrong"}`, p.bearer...).problem(422, "validation")))
		id, d := p.add(t, "Phone")
		options := p.begin(t, p.bearer...)
		require.Equal(t, map[string]any{"id": "localhost", "name": "Trunkline"}, options["rp"])
		require.Len(t, options["excludeCredentials"], 1)
		require.Equal(t, map[string]any{"requireResidentKey": true, "residentKey": "required", "userVerification": "required"}, options["authenticatorSelection"])

		asked := p.beginLogin(t)
		require.Equal(t, "localhost", asked["rpId"])
		require.Equal(t, "required", asked["userVerification"])
		require.NotContains(t, asked, "allowCredentials", "it names nobody")
		p.wait(time.Minute)
		in := logInWith(t, p.fixture, d.sign(t, asked))
		require.Equal(t, "ana@example.org", in.json(200)["user"].(map[string]any)["email"])
		var jar []string
		for _, c := range in.Result().Cookies() {
			jar = append(jar, c.Name+"="+c.Value)
		}
		require.Equal(t, p.me, p.do(t, "GET", "/user/me", "", "Cookie", strings.Join(jar, "; ")).json(200)["id"])
		shown := p.do(t, "GET", "/user/passkeys", "", p.bearer...).json(200)["items"].([]any)[0].(map[string]any)
		require.Equal(t, map[string]any{"id": id, "name": "Phone", "createdAt": float64(1_900_000_000), "lastUsedAt": float64(1_900_000_060)}, shown)

		require.Equal(t, []string{"body.password"}, locations(p.do(t, "DELETE", "/user/passkeys/"+id, `{"password":"wrong"}`, p.bearer...).problem(422, "validation")))
		p.do(t, "DELETE", "/user/passkeys/"+id, `{"password":"correct horse"}`, p.bearer...).json(200)
		p.do(t, "DELETE", "/user/passkeys/"+id, `{"password":"correct horse"}`, p.bearer...).problem(404, "not_found")
		require.Empty(t, p.do(t, "GET", "/user/passkeys", "", p.bearer...).json(200)["items"])
		p.logIn(t, d).problem(401, "unauthorized")
		require.Equal(t, []string{`{"added":"Phone"}`, `{"removed":"Phone"}`}, p.audited(t, "user.passkey"))
		p.log.hasNoErrors(t)
	})
}

// TestPasskeys_SecondFactor asks nobody for a code who has a passkey.
func TestPasskeys_SecondFactor(t *testing.T) {
	t.Parallel()
	p := withPasskeys(t, testkit.Open(t, testkit.SQLiteURL(t)))
	p.enrol(t)
	p.do(t, "POST", "/user/login", logIn).problem(401, "second_factor_required")
	_, d := p.add(t, "Phone")
	p.logIn(t, d).json(200)
}

// TestPasskeys_Refused answers challenges as nobody may.
func TestPasskeys_Refused(t *testing.T) {
	t.Parallel()
	eachPasskeys(t, func(t *testing.T, p *passkeys) {
		_, d := p.add(t, "Phone")
		p.bearer = []string{"Authorization", "Bearer " + p.signUp(t, "ben@example.org")}
		_, ben := p.add(t, "Ben's")
		known := strings.Join(p.deviceOf(t, d), "")
		try := func(name string, change func(d *device)) {
			t.Run(name, func(t *testing.T) {
				changed := *d
				change(&changed)
				credential := changed.sign(t, p.beginLogin(t))
				d.key.Counter = changed.key.Counter
				a := p.do(t, "POST", "/user/login/passkey", `{"credential":`+credential+`}`)
				require.Equal(t, "the passkey is unknown to this server, or the login took longer than 5 minutes: try again", a.problem(401, "unauthorized").Detail)
			})
		}
		try("another origin", func(d *device) { d.site.Origin = "http://localhost:3001" })
		try("https of the same host", func(d *device) { d.site.Origin = "https://localhost:3000" })
		try("another site", func(d *device) { d.site.ID = "example.org" })
		try("another user's credential", func(d *device) { d.key.ID = ben.key.ID })
		try("another user", func(d *device) { d.is.Options.UserHandle = ben.is.Options.UserHandle })
		try("no user", func(d *device) { d.is.Options.UserHandle = nil })
		try("user not verified", func(d *device) { d.is.Options.UserNotVerified = true })
		try("user not present", func(d *device) { d.is.Options.UserNotPresent = true })
		try("unknown credential", func(d *device) { d.key.ID = newDevice().key.ID })

		p.do(t, "POST", "/user/login/passkey", `{"credential":{"id":"x"}}`).problem(401, "unauthorized")
		p.logIn(t, d).problem(429, "rate_limited")
		in := p.do(t, "POST", "/user/login/passkey", `{"cookie":true,"credential":`+d.sign(t, p.beginLogin(t))+`}`, "Cookie", known)
		require.Equal(t, "ana@example.org", in.json(200)["user"].(map[string]any)["email"], "from a known browser")
		p.wait(16 * time.Minute)
		p.logIn(t, d).json(200)
	})
}

// deviceOf logs in, and returns the cookie by which the browser is known.
func (p *passkeys) deviceOf(t *testing.T, d *device) []string {
	t.Helper()
	in := p.logIn(t, d)
	in.json(200)
	for _, c := range in.Result().Cookies() {
		if strings.HasSuffix(c.Name, "-device") {
			return []string{c.Name, "=", c.Value}
		}
	}
	require.Fail(t, "no device")
	return nil
}

// TestPasskeys_Challenges answers a challenge once, within its time.
func TestPasskeys_Challenges(t *testing.T) {
	t.Parallel()
	eachPasskeys(t, func(t *testing.T, p *passkeys) {
		_, d := p.add(t, "Phone")
		credential := d.sign(t, p.beginLogin(t))
		logInWith(t, p.fixture, credential).json(200)
		logInWith(t, p.fixture, credential).problem(401, "unauthorized")

		asked := p.beginLogin(t)
		wrong := *d
		wrong.site.Origin = "https://example.org"
		logInWith(t, p.fixture, wrong.sign(t, asked)).problem(401, "unauthorized")
		logInWith(t, p.fixture, d.sign(t, asked)).problem(401, "unauthorized") // it is used up by what was wrong, too

		asked = p.beginLogin(t)
		p.wait(5*time.Minute - time.Second)
		logInWith(t, p.fixture, d.sign(t, asked)).json(200)
		asked = p.beginLogin(t)
		p.wait(5 * time.Minute)
		logInWith(t, p.fixture, d.sign(t, asked)).problem(401, "unauthorized")

		logInWith(t, p.fixture, d.sign(t, p.begin(t, p.bearer...))).problem(401, "unauthorized") // of a ceremony that adds
	})
}

// TestPasskeys_NotAdded answers the options for a new passkey as nobody may.
func TestPasskeys_NotAdded(t *testing.T) {
	t.Parallel()
	eachPasskeys(t, func(t *testing.T, p *passkeys) {
		refused := func(credential string) {
			t.Helper()
			require.Equal(t, []string{"body.credential"}, locations(p.send(t, "Phone", credential, p.bearer...).problem(422, "validation")))
		}
		for name, change := range map[string]func(d *device){
			"another origin":    func(d *device) { d.site.Origin = "https://example.org" },
			"another site":      func(d *device) { d.site.ID = "example.org" },
			"user not verified": func(d *device) { d.is.Options.UserNotVerified = true },
		} {
			t.Run(name, func(t *testing.T) {
				d := newDevice()
				change(d)
				refused(d.make(t, p.begin(t, p.bearer...)))
			})
		}
		refused(`{"id":"x"}`)
		d := newDevice()
		credential := d.make(t, p.begin(t, p.bearer...))
		p.wait(5 * time.Minute)
		refused(credential)
		ben := []string{"Authorization", "Bearer " + p.signUp(t, "ben@example.org")}
		refused(d.make(t, p.begin(t, ben...)))
		require.Equal(t, []string{"body.name"}, locations(p.send(t, " ", d.make(t, p.begin(t, p.bearer...)), p.bearer...).problem(422, "validation")))
		credential = d.make(t, p.begin(t, p.bearer...))
		p.send(t, "Phone", credential, p.bearer...).json(201)
		refused(credential)
		p.send(t, "Again", d.make(t, p.begin(t, p.bearer...)), p.bearer...).problem(409, "conflict")
		p.send(t, "Ben's", d.make(t, p.begin(t, ben...)), ben...).problem(409, "conflict")
	})
}

// TestPasskeys_Copied refuses a passkey whose counter goes back, and names it.
func TestPasskeys_Copied(t *testing.T) {
	t.Parallel()
	eachPasskeys(t, func(t *testing.T, p *passkeys) {
		_, d := p.add(t, "Old key")
		p.logIn(t, d).json(200)
		d.key.Counter--
		require.Contains(t, p.logIn(t, d).problem(401, "passkey_copied").Detail, "Old key")
		require.Equal(t, []string{`{"copied":"Old key"}`}, p.audited(t, "user.loginFailed"))
		p.logIn(t, d).json(200)

		first := d.sign(t, p.beginLogin(t))
		d.key.Counter--
		second := d.sign(t, p.beginLogin(t)) // a copy at the same time
		codes := make(chan int)
		for _, credential := range []string{first, second} {
			go func() { codes <- logInWith(t, p.fixture, credential).Code }()
		}
		require.ElementsMatch(t, []int{200, 401}, []int{<-codes, <-codes})
	})
}

// TestPasskeys_Uncounted takes an authenticator that does not count.
func TestPasskeys_Uncounted(t *testing.T) {
	t.Parallel()
	p := withPasskeys(t, testkit.Open(t, testkit.SQLiteURL(t)))
	_, d := p.add(t, "Synced")
	for range 2 {
		asked := p.beginLogin(t)
		d.key.Counter = ^uint32(0) // sign makes 0 of it
		logInWith(t, p.fixture, d.sign(t, asked)).json(200)
	}
}

// TestPasskeys_AtMost bounds the passkeys of a user.
func TestPasskeys_AtMost(t *testing.T) {
	t.Parallel()
	eachPasskeys(t, func(t *testing.T, p *passkeys) {
		options := p.begin(t, p.bearer...)
		for range 20 {
			p.add(t, "One more")
		}
		p.do(t, "POST", "/user/passkeys/begin", `{"password":"correct horse"}`, p.bearer...).problem(409, "conflict")
		p.send(t, "Begun before", newDevice().make(t, options), p.bearer...).problem(409, "conflict")
	})
}

// TestPasskeys_Users keeps out whose user is disabled, deleted, or of a closed
// account.
func TestPasskeys_Users(t *testing.T) {
	t.Parallel()
	eachPasskeys(t, func(t *testing.T, p *passkeys) {
		owner := p.bearer
		member := func(email string) (id string, d *device) {
			id = p.do(t, "POST", "/user", `{"email":"`+email+`","name":"Ben","password":"correct horse","permissions":["chats.read"]}`, owner...).json(201)["id"].(string)
			token := p.do(t, "POST", "/user/login", strings.Replace(logIn, "ana@example.org", email, 1)).json(200)["token"].(string)
			p.bearer = []string{"Authorization", "Bearer " + token}
			_, d = p.add(t, "Phone")
			return id, d
		}
		ben, d := member("ben@example.org")
		in := p.logIn(t, d).json(200)["token"].(string)
		p.do(t, "PATCH", "/user/"+ben, `{"disabled":true}`, owner...).json(200)
		p.logIn(t, d).problem(401, "unauthorized")
		p.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+in).problem(401, "unauthorized")
		p.do(t, "PATCH", "/user/"+ben, `{"disabled":false}`, owner...).json(200)
		fresh := p.logIn(t, d).json(200)["token"].(string)
		p.do(t, "DELETE", "/user/sessions?user="+ben, "", owner...).json(200)
		p.do(t, "GET", "/user/me", "", "Authorization", "Bearer "+fresh).problem(401, "unauthorized")
		p.do(t, "DELETE", "/user/"+ben, "", owner...).json(200)
		p.logIn(t, d).problem(401, "unauthorized")

		p.bearer = owner
		_, d = p.add(t, "Phone")
		p.do(t, "DELETE", "/account", `{"password":"correct horse"}`, owner...).json(202)
		p.logIn(t, d).problem(401, "unauthorized")
	})
}

// TestPasskeys_OfOthers removes the passkeys of a user who has lost the devices.
func TestPasskeys_OfOthers(t *testing.T) {
	t.Parallel()
	eachPasskeys(t, func(t *testing.T, p *passkeys) {
		owner := p.bearer
		ben := p.do(t, "POST", "/user", `{"email":"ben@example.org","name":"Ben","password":"correct horse","role":"admin"}`, owner...).json(201)["id"].(string)
		token := p.do(t, "POST", "/user/login", strings.Replace(logIn, "ana@example.org", "ben@example.org", 1)).json(200)["token"].(string)
		p.do(t, "DELETE", "/user/"+p.me+"/passkeys", "", "Authorization", "Bearer "+token).problem(403, "forbidden")
		p.do(t, "DELETE", "/user/"+p.me+"/passkeys", "", owner...).problem(403, "forbidden")
		p.do(t, "DELETE", "/user/"+ben+"/passkeys", "", owner...).problem(404, "not_found")
		p.bearer = []string{"Authorization", "Bearer " + token}
		id, d := p.add(t, "Phone")
		p.do(t, "DELETE", "/user/passkeys/"+id, `{"password":"correct horse"}`, owner...).problem(404, "not_found")
		p.do(t, "DELETE", "/user/"+ben+"/passkeys", "", owner...).json(200)
		p.logIn(t, d).problem(401, "unauthorized")
		p.bearer = owner
		require.Equal(t, []string{`{"added":"Phone"}`, `{"removedAll":1}`}, p.audited(t, "user.passkey"))
	})
}

// TestPasskeys_Nodes begins on one node and finishes on another, where a challenge
// is used up on both.
func TestPasskeys_Nodes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		p := withPasskeys(t, db)
		other := setupOn(t, db, func(c *server.Config) { c.Now = p.now })
		d := newDevice()
		options := p.begin(t, p.bearer...)
		other.do(t, "POST", "/user/passkeys", `{"name":"Phone","credential":`+d.make(t, options)+`}`, p.bearer...).json(201)
		credential := d.sign(t, p.beginLogin(t))
		codes := make(chan int)
		for _, f := range []fixture{p.fixture, other, p.fixture, other} {
			go func() { codes <- logInWith(t, f, credential).Code }()
		}
		got := map[int]int{}
		for range 4 {
			got[<-codes]++
		}
		require.Equal(t, map[int]int{200: 1, 401: 3}, got)
	})
}

// TestPasskeys_Unavailable offers none where browsers make none.
func TestPasskeys_Unavailable(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) { c.BaseURL = "http://192.0.2.1:3000" })
	require.Equal(t, false, f.do(t, "GET", "/user/methods", "").json(200)["passkeys"])
	bearer := []string{"Authorization", "Bearer " + f.signUp(t, "ana@example.org")}
	require.Contains(t, f.do(t, "POST", "/user/passkeys/begin", `{"password":"correct horse"}`, bearer...).problem(404, "not_found").Detail, "https")
	f.do(t, "POST", "/user/passkeys", `{"name":"Phone","credential":{}}`, bearer...).problem(404, "not_found")
	f.do(t, "POST", "/user/login/passkey/begin", "").problem(404, "not_found")
	f.do(t, "POST", "/user/login/passkey", `{"credential":{}}`).problem(404, "not_found")
	require.Empty(t, f.do(t, "GET", "/user/passkeys", "", bearer...).json(200)["items"])
}

// enrol gives the user a second factor.
func (p *passkeys) enrol(t *testing.T) {
	t.Helper()
	secret := p.do(t, "POST", "/user/second-factor", `{"password":"correct horse"}`, p.bearer...).json(201)["secret"].(string)
	p.do(t, "POST", "/user/second-factor/confirm", `{"code":"`+totp.Code(t, secret, p.now())+`"}`, p.bearer...).json(200)
}
