package server_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/server"
)

// clock is the machine's, and continues when it is told to.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

// hasten lets leases pass, and bit by bit the minute before the last look at a
// closed account, but not the half hour for which the links in mails are kept.
func (c *clock) hasten() {
	if time.Duration(c.ahead.Load()) < 20*time.Minute {
		c.pass(20 * time.Second)
	}
}

// contents is every row of every table, as text.
func contents(t *testing.T, db *sqlx.DB) string {
	t.Helper()
	return strings.Join(testkit.Contents(t, db), "\n")
}

// traces counts the lines of contents that hold a word.
func traces(all, word string) (n int) {
	for line := range strings.Lines(all) {
		if strings.Contains(strings.ToLower(line), strings.ToLower(word)) {
			n++
		}
	}
	return n
}

// estate is an account that has something of everything; whatever was given
// for it contains the word.
type estate struct {
	client
	account string
	word    string
	phone   string
	number  string
	others  map[string]string // other ways in, by what they are: headers
}

// setUp fills an account.
func setUp(t *testing.T, f fixture, g *graphtest.Server, name, word, phone, number string) *estate {
	t.Helper()
	email, password := name+"-"+word+"@example.org", "password of "+word
	up := f.do(t, "POST", "/user/login", fmt.Sprintf(`{"email":%q,"password":%q,"cookie":true}`, email, password))
	c := client{f, up.json(200)["token"].(string)}
	e := &estate{client: c, word: word, phone: phone, number: number, others: map[string]string{}}
	e.others["Cookie"] = strings.Split(up.Header().Get("Set-Cookie"), ";")[0]
	e.account = c.call(t, "GET", "/account", "").json(200)["id"].(string)
	scoped := c.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":%q,"permissions":["chats.read"],"expiresAt":%d}`, word, time.Now().Add(time.Hour).Unix()))
	e.others["scoped"] = scoped.json(201)["token"].(string)
	c.call(t, "POST", "/user", fmt.Sprintf(`{"email":"second-%s","password":%q,"name":%q,"permissions":["users.manage"]}`, email, password, word)).json(201)
	second := f.do(t, "POST", "/user/login", fmt.Sprintf(`{"email":"second-%s","password":%q}`, email, password)).json(200)
	e.others["second"] = second["token"].(string)

	require.Equal(t, 202, f.do(t, "POST", "/user/reset", fmt.Sprintf(`{"email":%q}`, email)).Code) // nobody takes mails there: it is tried again
	l := cloudNumber(number)
	cloud, sandbox := c.reference(t, reference(l)), c.reference(t, fmt.Sprintf(`{"name":%q,"type":"provider-sandbox","settings":{}}`, word))
	for _, hook := range []string{echoURL, "http://127.0.0.1:1/" + word} {
		c.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"headers":[{"key":"X-Key","value":%q}]}`, sandbox, hook, word)).json(201)
	}
	c.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":"http://127.0.0.1:1/%s"}`, cloud, word)).json(201)
	c.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, cloud)).json(200)
	c.extractor(t, sandbox, "regex", fmt.Sprintf(`{"pattern":"(?P<word>%s)"}`, word))
	c.extractor(t, sandbox, "intent", fmt.Sprintf(`{"intents":[{"name":"a","examples":[%q]},{"name":"b","examples":["nothing"]}]}`, word))
	c.write(t, sandbox, "ana", word)
	c.send(t, sandbox, word)
	media := c.upload(t, part{"file", word + ".png", "image/png", string(picture(t, 40, 30))}, part{field: "reference", body: fmt.Sprint(sandbox)}).json(201)
	c.call(t, "POST", "/chats/send", sendBody(sandbox, "ana", fmt.Sprintf(`{"type":"image","mediaId":%q,"caption":%q}`, media["mediaId"], word)), "Idempotency-Key", word).json(200)
	c.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"ana","variables":{"a":%q},"tags":[%q],"name":%q}`, sandbox, word, word, word)).json(200)
	require.Equal(t, 200, c.execute(t, "list_chats", fmt.Sprintf(`{"reference":%d}`, sandbox)).Code)
	c.execute(t, word, `{}`).failed(404, "unknown_function")
	c.call(t, "PUT", "/aiusage/pricing", fmt.Sprintf(`{"items":[{"provider":"house","model":%q,"input":1,"output":2}]}`, word)).json(200)
	c.call(t, "PUT", "/aiusage/budget", `{"items":[{"scope":"chat","period":"total","tokens":1000000}]}`).json(200)
	c.used(t, word, word, sandbox, llm.Usage{Known: true, Input: 5})
	c.call(t, "POST", "/aiflow/credential", fmt.Sprintf(`{"name":%q,"kind":"basic","username":%q,"secret":%q,"hosts":[%q]}`, word, word, word, word)).json(201)
	c.call(t, "POST", "/aiflow/server", fmt.Sprintf(`{"name":%q,"url":"https://%s.example.org/mcp"}`, word, word)).json(201)
	e.callbacks(t, g)
	require.Equal(t, 200, f.pay(t, strings.ReplaceAll(subscribed("evt_"+name, 100, e.account, "active"), "cus_1", "cus_"+word)).Code)
	require.Equal(t, 200, f.pay(t, strings.ReplaceAll(subscribed("evt_0"+name, 100, e.account, "active"), "cus_1", "cus_"+word)).Code)
	return e
}

// callbacks brings what the network reports: texts, files, what cannot be
// read, statuses of nothing.
func (e *estate) callbacks(t *testing.T, g *graphtest.Server) {
	t.Helper()
	_, err := g.Write(t.Context(), graphtest.Inbound{Number: e.number, From: e.phone, Name: e.word, Text: e.word})
	require.NoError(t, err)
	l := cloudNumber(e.number)
	change := func(field, value string) string {
		return fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":%q,"changes":[{"field":%q,"value":%s}]}]}`, l.BusinessAccountID, field, value)
	}
	meta := fmt.Sprintf(`"messaging_product":"whatsapp","metadata":{"display_phone_number":"1","phone_number_id":%q}`, e.number)
	for _, body := range []string{
		change("messages", fmt.Sprintf(`{%s,"messages":[%q]}`, meta, e.word)),
		change("messages", fmt.Sprintf(`{%s,"statuses":[{"id":"wamid.%s","status":"delivered","timestamp":"1","recipient_id":%q}]}`, meta, e.word, e.phone)),
		change("account_alerts", fmt.Sprintf(`{"entity_id":%q}`, e.word)),
		change("nonsense", fmt.Sprintf(`{"entity_id":%q}`, e.word)),
	} {
		require.Equal(t, 200, e.post(t, body, l.AppSecret).Code, body)
	}
}

// ways are the headers by which the users of an account come in.
func (e *estate) ways() map[string][]string {
	out := map[string][]string{"token": {"Authorization", "Bearer " + e.token}}
	for name, v := range e.others {
		if out[name] = []string{"Authorization", "Bearer " + v}; name == "Cookie" {
			out[name] = []string{"Cookie", v}
		}
	}
	return out
}

// stubborn is a store of files that refuses to delete while it is told to.
type stubborn struct {
	media.Store
	refuse atomic.Bool
}

func (s *stubborn) Delete(ctx context.Context, id string) error {
	if s.refuse.Load() {
		return errors.New("the store is out of reach")
	}
	return s.Store.Delete(ctx, id)
}

// files are the names of what is in a folder.
func files(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	}))
	return out
}

// TestDeleteAccount fills two accounts and deletes one: its users are refused
// at once, nothing of it remains in any table or in the folder of files, also
// when the work is interrupted, and nothing of the other is touched.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const word, phone, number = "canary7f3a", "16505550777", "7700770077"
		var f fixture
		g := startGraph(t, &graphOptions{
			Numbers: []graphtest.Number{cloudNumber(number), cloudNumber("8800")}, Callback: "http://trunkline.test/webhooks/provider",
			HTTPClient: into(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.ServeHTTP(w, r) })),
		})
		folder, c := t.TempDir(), &clock{}
		kept, err := media.OpenFolder(folder)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, kept.Close()) })
		store := &stubborn{Store: kept}
		store.refuse.Store(true)
		without := setupOn(t, db, nil) // no mails: sign-ups end at once
		for name, word := range map[string]string{"ana": word, "ben": "remains"} {
			without.do(t, "POST", "/user/signup", fmt.Sprintf(`{"email":"%s-%s@example.org","password":"password of %s","name":"N. %[2]s"}`, name, word, word)).json(201)
		}
		f = working(t, setupOn(t, db, func(cfg *server.Config) {
			loopback(cfg)
			cfg.GraphURL, cfg.Media, cfg.Now, cfg.SMTPURL = g.URL, store, c.now, "smtp://127.0.0.1:1?from=chat@example.org"
		}))
		ana := setUp(t, f, g, "ana", word, phone, number)
		ben := setUp(t, f, g, "ben", "remains", "16505550888", "8800")
		for _, table := range []string{"messaging_dead_letter", "messaging_raw", "messaging_early_status", "messaging_media", "webhook_attempt", "auth_user"} {
			ana.until(t, func() bool { return stored(t, db)[table] > 0 }, table)
		}
		before := contents(t, db)
		require.Greater(t, traces(before, word), 20)
		for _, table := range []string{"mcp_audit ", "mcp_limit "} {
			require.Regexp(t, `(?m)^`+table+`.*`+ana.account, before)
		}

		ana.call(t, "DELETE", "/account", `{"password":"wrong"}`).problem(422, "validation")
		f.do(t, "DELETE", "/account", fmt.Sprintf(`{"password":"password of %s"}`, word), "Authorization", "Bearer "+ana.others["scoped"]).problem(403, "forbidden")
		ana.call(t, "DELETE", "/account", fmt.Sprintf(`{"password":"password of %s"}`, word)).json(http.StatusAccepted)
		for name, header := range ana.ways() {
			a := f.do(t, "GET", "/user/me", "", header...)
			require.Equal(t, 401, a.Code, name)
		}
		f.do(t, "POST", "/user/login", fmt.Sprintf(`{"email":"ana-%s@example.org","password":"password of %s"}`, word, word)).problem(401, "unauthorized")

		// The files cannot be deleted for now: the account stays closed, and
		// another try does it.
		f.log.await(t, "erasing a closed account")
		require.Positive(t, traces(contents(t, db), ana.account))
		store.refuse.Store(false)
		handle, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		ana.until(t, func() bool {
			c.hasten()
			handle.Notify("server.closed")
			return traces(contents(t, db), ana.account) == 0
		})
		for _, trace := range []string{word, phone, number, ana.account, "ana-"} {
			ana.until(t, func() bool { return traces(contents(t, db), trace) == 0 }, trace)
		}
		after := contents(t, db)
		require.GreaterOrEqual(t, traces(after, "remains"), traces(before, "remains"))
		require.Equal(t, 401, ana.post(t, text(number, number+"99", phone, "wamid.late", word), cloudNumber(number).AppSecret).Code)
		require.Equal(t, 200, f.pay(t, subscribed("evt_late", 900, ana.account, "active")).Code, "kept as nobody's")

		require.NotEmpty(t, files(t, folder))
		for _, name := range files(t, folder) {
			id := strings.SplitN(filepath.Base(name), ".", 2)[0]
			require.Positive(t, traces(after, id), "%s is nobody's", name)
		}
		for name, header := range ben.ways() {
			require.Equal(t, 200, f.do(t, "GET", "/user/me", "", header...).Code, name)
		}
		again := without.do(t, "POST", "/user/signup", fmt.Sprintf(`{"email":"ana-%s@example.org","password":"correct horse","name":"Ana"}`, word))
		require.NotEqual(t, ana.account, again.json(201)["user"].(map[string]any)["accountId"])
	})
}

// eraseChild is where a child finds the database, and in whose absence
// [TestEraseChild] does nothing.
const eraseChild = "SERVER_TEST_ERASE"

// TestEraseChild is the process that [TestDeleteAccountKilled] kills: it says
// so when it has begun to erase, and hangs.
func TestEraseChild(t *testing.T) {
	url := os.Getenv(eraseChild)
	if url == "" {
		return
	}
	f := setupOn(t, testkit.Open(t, url), func(c *server.Config) { c.Media, c.Exclusive = hanging{}, true })
	_ = f.Run(t.Context())
}

// hanging is a store of files that says so and hangs when it is to delete one.
type hanging struct{ media.Store }

func (hanging) Delete(context.Context, string) error {
	fmt.Println("erasing")
	select {}
}

// TestDeleteAccountKilled ends a process by kill -9 while it erases an
// account: the next continues.
func TestDeleteAccountKilled(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		c := &clock{}
		db := testkit.Open(t, url)
		f := setupOn(t, db, func(cfg *server.Config) { keeping(t)(cfg); cfg.Now = c.now })
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		ana.write(t, ref, "ana", "canary words")
		ana.upload(t, part{"file", "a.png", "image/png", string(picture(t, 40, 30))}, part{field: "reference", body: fmt.Sprint(ref)}).json(201)
		account := ana.call(t, "GET", "/account", "").json(200)["id"].(string)
		ana.call(t, "DELETE", "/account", `{"password":"correct horse"}`).json(http.StatusAccepted)
		ana.call(t, "GET", "/account", "").problem(401, "unauthorized")

		child, _ := testkit.Child(t, "TestEraseChild", "erasing", eraseChild+"="+url)
		require.NoError(t, child.Process.Kill())
		_ = child.Wait()
		require.Positive(t, traces(contents(t, db), account))
		working(t, f)
		handle, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			c.hasten()
			handle.Notify("server.closed")
			return traces(contents(t, db), account) == 0
		}, eventually, tick)
		require.Zero(t, traces(contents(t, db), "canary"))
	})
}
