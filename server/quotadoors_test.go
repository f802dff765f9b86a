package server_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/quota"
)

// limit sets a quota of the user's account.
func (c client) limit(t *testing.T, name quota.Name, n int) {
	t.Helper()
	account := c.call(t, "GET", "/account", "").json(200)["id"].(string)
	require.NoError(t, c.Quotas.Set(t.Context(), account, quota.Limits{name: int64(n)}))
}

// TestQuotaByEachRoute sends by every door: each meets the same quota, and what
// one takes the others lack.
func TestQuotaByEachRoute(t *testing.T) {
	t.Parallel()
	onScript(t, func(t *testing.T, f fixture, m *llmtest.Script) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		ana.write(t, ref, "bob", "Hello")
		_, publish := ana.project(t)
		bot := ana.bot(t, ref, echoFlow("bot", onAnything))
		says := publish(echoFlow("flow", `{"on":[{"kind":"api"}]}`))
		agent := publish(helping(`"approval": "never", "send": false, "tools": ["send_message"]`))
		send := fmt.Sprintf(`{"reference":%d,"chatId":"bob","text":"Hi"}`, ref)
		run := func(flow string) string {
			r := ana.start(t, fmt.Sprintf(`{"flowId":%q,"chatId":"bob","reference":%d,"input":{"text":"Go"}}`, flow, ref))
			return ana.call(t, "GET", "/aiflow/run/"+r["id"].(string), "").Body.String()
		}
		doors := []struct {
			name string
			send func() string
		}{
			{"REST", func() string {
				return ana.call(t, "POST", "/chats/send", sendBody(ref, "bob", `{"type":"text","text":"Hi"}`)).Body.String()
			}},
			{"a function", func() string {
				return ana.call(t, "POST", "/service-mcp/execute", `{"function":"send_message","arguments":`+send+`}`).Body.String()
			}},
			{"MCP", func() string {
				return ana.rpc(t, "tools/call", `{"name":"send_message","arguments":`+send+`}`).Body.String()
			}},
			{"an agent", func() string {
				m.Add(toolCall("1", "send_message", `{"text":"Hi"}`), llmtest.Say("Done."))
				return run(agent)
			}},
			{"a flow", func() string { return run(says) }},
			{"a bot", func() string {
				r := ana.call(t, "POST", "/bot/"+bot+"/run", `{"chatId":"bob","input":"Go"}`).json(200)["run"].(map[string]any)
				r = ana.after(t, "/bot/run/", r, "running")
				return ana.call(t, "GET", "/bot/run/"+r["id"].(string), "").Body.String()
			}},
		}
		used := func() int { return count(ana.quota(t, "messages")["used"]) }
		for _, d := range doors {
			before, shown := used(), len(ana.shown(t, ref, "bob"))
			ana.limit(t, quota.Messages, max(before, 1))
			if before == 0 {
				ana.send(t, ref, "the only one")
				before++
			}
			require.Contains(t, d.send(), "messages per day", d.name)
			require.Equal(t, before, used(), d.name)
			require.Len(t, ana.shown(t, ref, "bob"), shown, d.name)
			ana.limit(t, quota.Messages, before+1)
			require.NotContains(t, d.send(), "messages a day", d.name)
			ana.until(t, func() bool { return len(ana.shown(t, ref, "bob")) == shown+1 }, d.name)
			require.Equal(t, before+1, used(), d.name)
			ana.call(t, "POST", "/chats/send", sendBody(ref, "bob", `{"type":"text","text":"Hi"}`)).problem(429, "quota.messages")
		}

		// A contact is never refused; what answers him is.
		ana.write(t, ref, "eve", "Hello")
		ana.until(t, func() bool {
			newest := ana.call(t, "GET", "/bot/"+bot+"/runs", "").json(200)["items"].([]any)[0].(map[string]any)
			return newest["chatId"] == "eve@sandbox" && newest["status"] == "failed"
		})
		require.Equal(t, []string{"out: Hello"}, ana.shown(t, ref, "eve"))

		ana.limit(t, quota.Messages, 0)
		ana.limit(t, quota.Contacts, 1)
		ana.call(t, "POST", "/chats/send", sendBody(ref, "joe", `{"type":"text","text":"x"}`)).problem(403, "quota.contacts")
		joe := strings.Replace(send, "bob", "joe", 1)
		ana.call(t, "POST", "/service-mcp/execute", `{"function":"send_message","arguments":`+joe+`}`).failed(403, "quota.contacts")
		require.Contains(t, ana.rpc(t, "tools/call", `{"name":"send_message","arguments":`+joe+`}`).Body.String(), "quota.contacts")
		ana.write(t, ref, "joe", "Hello")
		ana.awaitShown(t, ref, "joe", "out: Hello", "in: I am bot.")

		ana.limit(t, quota.Runs, count(ana.quota(t, "runs")["used"]))
		begin := fmt.Sprintf(`{"flowId":%q,"chatId":"bob","reference":%d}`, says, ref)
		ana.call(t, "POST", "/aiflow/run", begin).problem(429, "quota.runs")
		ana.call(t, "POST", "/bot/"+bot+"/run", `{"chatId":"bob","input":"Go"}`).problem(429, "quota.runs")
		ana.call(t, "POST", "/service-mcp/execute", `{"function":"run_flow","arguments":`+begin+`}`).failed(429, "quota.runs")
		require.Contains(t, ana.rpc(t, "tools/call", `{"name":"run_flow","arguments":`+begin+`}`).Body.String(), "quota.runs")
	})
}

// TestQuotaOfProtocol counts requests to /mcp with those of the REST API.
func TestQuotaOfProtocol(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(c *server.Config) { c.Quotas = quota.Limits{quota.API: 4} }, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ana.call(t, "GET", "/user/me", "").json(200)
		for range 3 {
			require.Equal(t, 200, ana.rpc(t, "tools/list", `{}`).Code)
		}
		over := ana.rpc(t, "tools/list", `{}`)
		require.Equal(t, 429, over.Code, over.Body.String())
		require.NotEmpty(t, over.Header().Get("Retry-After"))
		ana.call(t, "GET", "/user/me", "").problem(429, "quota.api")
		require.Equal(t, 200, f.as(t, "ben").rpc(t, "tools/list", `{}`).Code)
	})
}

// TestQuotaOfProjectFiles counts files of projects with those of chats.
func TestQuotaOfProjectFiles(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		clock := newWallClock()
		f := working(t, setupOn(t, db, func(c *server.Config) {
			keeping(t)(c)
			c.Quotas, c.Now = quota.Limits{quota.Storage: 100}, clock.Now
		}))
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		project, _ := ana.project(t)
		path := "/aiflow/project/" + project + "/file"
		file := func(bytes int) string {
			return fmt.Sprintf(`{"name":"a.txt","text":%q}`, strings.Repeat("word ", bytes/5))
		}
		kept := ana.call(t, "POST", path, file(60)).json(201)
		ana.call(t, "POST", path, file(60)).problem(403, "quota.storage")
		require.Len(t, ana.call(t, "GET", path, "").json(200)["items"], 1)
		require.EqualValues(t, 60, ana.quota(t, "storage")["used"])
		ana.call(t, "POST", path, file(40)).json(201)
		document := part{"file", "a.txt", "text/plain", "more"}
		ana.upload(t, part{field: "reference", body: fmt.Sprint(ref)}, document).problem(403, "quota.storage")
		ana.call(t, "DELETE", path+"/"+kept["id"].(string), "").json(200)
		require.EqualValues(t, 40, ana.quota(t, "storage")["used"])
		clock.pass(2 * time.Second) // a count of others counts for a second
		ana.upload(t, part{field: "reference", body: fmt.Sprint(ref)}, document).json(201)
		require.EqualValues(t, 44, ana.quota(t, "storage")["used"])
	})
}

// TestStatementsOfAQuota counts what quotas ask for a send: a few statements where
// nothing is known of an account, and none then.
func TestStatementsOfAQuota(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		at := time.Now()
		cost := func(name string, limits quota.Limits) []int {
			seen, asked := testkit.Counting(t, db)
			f := setupOn(t, seen, func(c *server.Config) {
				c.Now, c.Quotas = func() time.Time { return at }, limits
			})
			ana := f.as(t, name)
			ref := ana.sandbox(t)
			ana.write(t, ref, "bob", "Hello")
			// What they ask reads the limits, the messages of a day and the chats.
			quotas := func() int {
				return asked.Of("quota_") + asked.Of("FROM usagecounter_") + asked.Of("count(*) FROM messaging_chat")
			}
			out := []int{}
			for i := range 4 {
				before := quotas()
				a := ana.call(t, "POST", "/chats/send?wait=0", sendBody(ref, "bob", fmt.Sprintf(`{"type":"text","text":"no %d"}`, i)))
				require.Less(t, a.Code, 300, a.Body.String())
				out = append(out, quotas()-before)
			}
			return out
		}
		require.Equal(t, []int{0, 0, 0, 0}, cost("ana", nil), "the limits are known from the requests before")
		bounded := cost("ben", quota.Limits{quota.Messages: 100, quota.Contacts: 100, quota.API: 100})
		require.Equal(t, []int{0, 0, 0}, bounded[1:])
		require.Positive(t, bounded[0])
		require.LessOrEqual(t, bounded[0], 5)
	})
}

const quotaChild, quotaToken = "QUOTA_CHILD", "QUOTA_TOKEN"

// TestQuotaChild sends messages, four at a time, until it is killed. It is the
// whole of a child process, and nothing in any other.
func TestQuotaChild(t *testing.T) {
	url := os.Getenv(quotaChild)
	if url == "" {
		return
	}
	ana := client{setupOn(t, testkit.Open(t, url), boundedChild), os.Getenv(quotaToken)}
	_, _ = fmt.Println("running")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				a := ana.call(t, "POST", "/chats/send?wait=0", sendBody(1, "bob", `{"type":"text","text":"Hi"}`))
				_, _ = fmt.Println("sent", a.Code)
			}
		})
	}
	wg.Wait()
}

func boundedChild(c *server.Config) {
	c.Exclusive, c.Quotas = true, quota.Limits{quota.Messages: 1_000_000}
}

// TestQuotaKilled kills a server in the middle of sends: as many count as are
// stored, and just as many fit.
func TestQuotaKilled(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		db := testkit.Open(t, url)
		ana := setupOn(t, db, boundedChild).as(t, "ana")
		ref := ana.sandbox(t)
		require.Equal(t, 1, ref, "as the child says")
		ana.write(t, ref, "bob", "Hello")
		for range testkit.Rounds(2) {
			child, lines := testkit.Child(t, "TestQuotaChild", "running", quotaChild+"="+url, quotaToken+"="+ana.token)
			answered := 0
			for answered < 20 && lines.Scan() {
				require.Regexp(t, "^sent 20[0-9]$", lines.Text())
				answered++
			}
			require.NoError(t, child.Process.Kill())
			_ = child.Wait()
			require.Equal(t, 20, answered)

			again := client{setupOn(t, db, boundedChild), ana.token}
			var stored int
			require.NoError(t, db.Get(&stored, `SELECT count(*) FROM messaging_message WHERE mine`))
			require.GreaterOrEqual(t, stored, 20)
			require.Equal(t, stored, count(again.quota(t, "messages")["used"]))
			again.limit(t, quota.Messages, stored+2)
			for _, want := range []int{202, 202, 429} {
				a := again.call(t, "POST", "/chats/send?wait=0", sendBody(ref, "bob", `{"type":"text","text":"Hi"}`))
				require.Equal(t, want == 429, a.Code == 429, a.Body.String())
			}
			require.Equal(t, stored+2, count(again.quota(t, "messages")["used"]))
			again.limit(t, quota.Messages, 1_000_000)
		}
	})
}

// TestQuotaOfVersions counts what is published of flows and bots with the files:
// each version keeps its document.
func TestQuotaOfVersions(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(c *server.Config) { c.Quotas = quota.Limits{quota.Storage: 1 << 20} }, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		_, publish := ana.project(t)
		flow := publish(echoFlow("flow", `{"on":[{"kind":"api"}]}`))
		bot := ana.bot(t, ref, echoFlow("bot", onAnything))
		used := count(ana.quota(t, "storage")["used"])
		require.Greater(t, used, 300)
		ana.call(t, "POST", "/aiflow/flow/"+flow+"/publish", "").json(200)
		require.Equal(t, used, count(ana.quota(t, "storage")["used"]), "it is published already")

		ana.limit(t, quota.Storage, used+10)
		ana.call(t, "PATCH", "/aiflow/flow/"+flow, `{"draft":`+echoFlow("flow-two", `{"on":[{"kind":"api"}]}`)+`}`).json(200)
		ana.call(t, "POST", "/aiflow/flow/"+flow+"/publish", "").problem(403, "quota.storage")
		ana.call(t, "PATCH", "/bot/"+bot, `{"flow":`+echoFlow("bot-two", onAnything)+`}`).json(200)
		ana.call(t, "POST", "/bot/"+bot+"/publish", "").problem(403, "quota.storage")
		require.Equal(t, used, count(ana.quota(t, "storage")["used"]))
		require.Len(t, ana.call(t, "GET", "/aiflow/flow/"+flow+"/versions", "").json(200)["items"], 1)

		ana.call(t, "DELETE", "/bot/"+bot, "").json(200)
		ana.until(t, func() bool {
			return ana.call(t, "POST", "/aiflow/flow/"+flow+"/publish", "").Code == http.StatusOK
		}, "there is room again")
	})
}
