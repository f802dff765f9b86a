package server_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testkit/totp"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/auth/secondfactor"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
)

// newest are actions of the log of an account with the details of each, the
// oldest first.
func (c client) newest(t *testing.T, query string) (out []string) {
	t.Helper()
	entries := c.audited(t, query)
	for i := len(entries) - 1; i >= 0; i-- {
		out = append(out, fmt.Sprint(entries[i]["action"], " ", entries[i]["details"]))
	}
	return out
}

// TestAuditOfWebhooks also lets an endpoint be disabled, which the server does by
// itself.
func TestAuditOfWebhooks(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		h := ana.hook(t, ref, 200)
		path := "/references/hookconf/" + h.id
		ana.call(t, "POST", "/references/hookconf", fmt.Sprintf(`{"id":%d,"webhook":"%s","headers":[{"key":"X-Key","value":"hush-hush"}]}`, ref, h.URL)).json(200)
		ana.call(t, "PATCH", path, `{"rotateSecret":true,"events":["message"]}`).json(200)
		ana.call(t, "PATCH", path, `{"headers":[{"key":"C","value":"••••"}]}`).problem(422, "validation")
		ana.call(t, "POST", path+"/test", "").json(200)
		ana.write(t, ref, "bob", "Hello")
		id := ana.deliveries(t, ref, "&state=delivered&chatId=bob@sandbox", 1)[0]["id"]
		ana.call(t, "POST", "/references/deliveries/replay", fmt.Sprintf(`{"ids":[%q]}`, id)).is(200, `{"queued":1}`)
		query := fmt.Sprintf("reference=%d&objectType=webhook", ref)
		require.Equal(t, []string{
			"webhook.create map[]", "webhook.update map[changed:[headers enabled]]", "webhook.update map[changed:[events secret]]", "webhook.test map[]",
		}, ana.newest(t, query))
		require.Equal(t, []string{"webhook.replay map[deliveries:1]"}, ana.newest(t, "action=webhook.replay"))
		at, err := url.Parse(h.URL)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"type": "webhook", "id": h.id, "name": at.Host}, ana.audited(t, query)[0]["object"])
		require.NotContains(t, ana.call(t, "GET", "/audit", "").Body.String(), "hush-hush")

		h.answer(410)
		ana.write(t, ref, "bob", "again")
		ana.until(t, func() bool { return len(ana.audited(t, "kind=system")) == 1 })
		disabled := ana.audited(t, "kind=system")[0]
		require.Equal(t, map[string]any{"changed": []any{"enabled"}, "enabled": false}, disabled["details"])
		require.Equal(t, h.id, disabled["object"].(map[string]any)["id"])
		require.Nil(t, disabled["requestId"])

		ana.call(t, "DELETE", path, "").json(200)
		ana.call(t, "DELETE", path, "").problem(404, "not_found")
		require.Len(t, ana.audited(t, "action=webhook.delete"), 1)
	})
}

// TestAuditOfChats has the log forget who was erased.
func TestAuditOfChats(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		ana.write(t, ref, "bob", "canary")
		ana.write(t, ref, "eve", "Hello")
		for _, who := range []string{"bob", "eve"} {
			ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":%q,"name":"Somebody","tags":["vip"],"variables":{"age":7}}`, ref, who)).json(200)
		}
		ana.call(t, "PATCH", "/chats", fmt.Sprintf(`{"reference":%d,"chatId":"bob","tags":[""]}`, ref)).problem(422, "validation")
		require.Equal(t, 200, ana.call(t, "GET", fmt.Sprintf("/chats/export?reference=%d&chatId=bob", ref), "").Code)
		ana.call(t, "POST", "/reference/session/start", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
		ana.call(t, "POST", "/reference/session/logout", fmt.Sprintf(`{"reference":%d}`, ref)).json(200)
		query := fmt.Sprintf("reference=%d", ref)
		changed := "chat.update map[changed:[name tags variables.age]]"
		require.Equal(t, []string{
			"reference.create map[type:provider-sandbox]", changed, changed, "chat.export map[]", "reference.connect map[]", "reference.logout map[]",
		}, ana.newest(t, query))
		require.Len(t, ana.audited(t, "objectId=bob@sandbox"), 2)

		ana.erase(t, fmt.Sprintf("/chats?reference=%d&chatId=bob", ref))
		require.Equal(t, "chat.erase map[]", ana.newest(t, query)[6])
		all := ana.call(t, "GET", "/audit", "").Body.String()
		for _, secret := range []string{"bob", "Somebody", "vip", "canary"} {
			require.NotContains(t, all, secret)
		}
		require.Len(t, ana.audited(t, "objectId=eve@sandbox"), 1)
	})
}

func TestAuditOfGroupsAndTemplates(t *testing.T) {
	t.Parallel()
	onDatabases(t, func(c *server.Config) { keeping(t)(c) }, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		id := ana.call(t, "POST", "/chats/group", fmt.Sprintf(`{"reference":%d,"subject":"Friends","participants":["maria","ben"]}`, ref)).json(201)["chatId"]
		ana.call(t, "PATCH", "/chats/group", fmt.Sprintf(`{"reference":%d,"chatId":%q,"subject":"Foes","remove":["ben"],"resetInvite":true}`, ref, id)).json(200)
		ana.call(t, "PATCH", "/chats/group", fmt.Sprintf(`{"reference":%d,"chatId":%q,"leave":true}`, ref, id)).json(200)
		require.Equal(t, []string{
			"group.create map[]", "group.update map[changed:[subject]]", "group.update map[changed:[remove]]", "group.update map[changed:[resetInvite]]",
			"group.update map[changed:[leave]]",
		}, ana.newest(t, "objectType=group"))
		require.Len(t, ana.audited(t, "objectId="+id.(string)), 5)

		template := fmt.Sprintf(`{"reference":%d,"name":"hello","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"canary"}]}`, ref)
		ana.call(t, "POST", "/templates", template).json(201)
		ana.call(t, "POST", "/templates", template).problem(502, "provider_error")
		ana.call(t, "DELETE", fmt.Sprintf("/templates?reference=%d&name=hello&language=en", ref), "").json(200)
		require.Equal(t, []string{"template.create map[language:en]", "template.delete map[language:en]"}, ana.newest(t, "objectType=template"))

		file := part{"file", "a.txt", "text/plain", "canary"}
		media := ana.upload(t, part{field: "reference", body: fmt.Sprint(ref)}, file).json(201)["mediaId"]
		require.Equal(t, media, ana.audited(t, "action=media.create")[0]["object"].(map[string]any)["id"])
		require.NotContains(t, ana.call(t, "GET", "/audit", "").Body.String(), "canary")
	})
}

// TestAuditIsPartOfTheChange: where an entry cannot be written, nothing is
// changed.
func TestAuditIsPartOfTheChange(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	f := setupOn(t, db, nil)
	ana := f.as(t, "ana")
	ref := ana.sandbox(t)
	mustExec(t, db, `ALTER TABLE auditlog_entry RENAME TO elsewhere`)
	hooks := fmt.Sprintf("/references/hookconf?reference=%d", ref)
	for path, body := range map[string]string{
		"POST /references/hookconf":      fmt.Sprintf(`{"id":%d,"webhook":"https://example.org/in"}`, ref),
		"PATCH /chats":                   fmt.Sprintf(`{"reference":%d,"chatId":"bob","name":"Bob"}`, ref),
		"POST /templates":                fmt.Sprintf(`{"reference":%d,"name":"hello","language":"en","category":"UTILITY","components":[{"type":"BODY","text":"Hi"}]}`, ref),
		"POST /reference/session/logout": fmt.Sprintf(`{"reference":%d}`, ref),
	} {
		method, path, _ := strings.Cut(path, " ")
		require.GreaterOrEqual(t, ana.call(t, method, path, body).Code, 500, path)
	}
	mustExec(t, db, `ALTER TABLE elsewhere RENAME TO auditlog_entry`)
	require.Empty(t, ana.call(t, "GET", hooks, "").json(200)["items"])
	require.Empty(t, ana.call(t, "GET", fmt.Sprintf("/chats/list?reference=%d", ref), "").json(200)["items"])
	require.Empty(t, ana.call(t, "GET", fmt.Sprintf("/templates?reference=%d", ref), "").json(200)["items"])
	require.Equal(t, "CONNECTED", ana.call(t, "GET", fmt.Sprintf("/reference/session/status?reference=%d", ref), "").json(200)["state"])
	require.Equal(t, []string{"reference.create"}, actions(ana.audited(t, fmt.Sprintf("reference=%d", ref))))
}

func mustExec(t *testing.T, db *sqlx.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	require.NoError(t, err)
}

func TestAuditOfUsage(t *testing.T) {
	t.Parallel()
	onDatabases(t, nil, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ana.call(t, "PUT", "/aiusage/budget", `{"items":[{"scope":"account","period":"month","tokens":1000}]}`).json(200)
		ana.call(t, "PUT", "/aiusage/budget", `{"items":[{"scope":"account","period":"month"}]}`).problem(422, "validation")
		ana.call(t, "PUT", "/aiusage/pricing", `{"items":[{"provider":"openai","model":"own","input":1,"output":2}]}`).json(200)
		ana.call(t, "POST", "/aiusage/reprice", `{}`).json(200)
		require.Equal(t, []string{"budget.update map[budgets:1]", "pricing.update map[prices:1]", "usage.reprice map[]"},
			ana.newest(t, "kind=login&since=1")[1:], "the first is the account")
	})
}

// TestAuditOfAccess is what happens to a user without a log-in, and to the second
// factor.
func TestAuditOfAccess(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setupOn(t, db, nil)
		ana := f.as(t, "ana")
		ana.call(t, "DELETE", "/user/second-factor", `{"password":"correct horse"}`).problem(404, "not_found")
		secret := ana.call(t, "POST", "/user/second-factor", `{"password":"correct horse"}`).json(201)["secret"].(string)
		ana.call(t, "POST", "/user/second-factor/confirm", fmt.Sprintf(`{"code":%q}`, totp.Code(t, secret, time.Now()))).json(200)
		ana.call(t, "POST", "/user/second-factor/recovery", `{"password":"correct horse"}`).json(200)
		ana.call(t, "DELETE", "/user/second-factor", `{"password":"correct horse"}`).json(200)
		const factor = "user.secondFactor map"
		require.Equal(t, []string{factor + "[enabled:true]", factor + "[changed:[recoveryCodes]]", factor + "[enabled:false]"}, ana.newest(t, "action=user.secondFactor"))

		log, err := auditlog.New(t.Context(), db, nil)
		require.NoError(t, err)
		ctx := audit.With(t.Context(), log, audit.Origin{})
		o, err := auth.NewOperator(ctx, db)
		require.NoError(t, err)
		account := ana.call(t, "GET", "/account", "").json(200)["id"].(string)
		const bob = "bob@example.org"
		_, err = o.Create(ctx, account, auth.NewUser{Email: bob, Name: "Bob", Password: "correct horse"}, []auth.Permission{auth.ReferencesRead})
		require.NoError(t, err)
		require.NoError(t, o.SetOwner(ctx, bob))
		require.NoError(t, o.SetDisabled(ctx, bob, true))
		require.NoError(t, o.SetDisabled(ctx, bob, false))
		require.NoError(t, o.SetPassword(ctx, bob, "another horse"))
		require.ErrorIs(t, o.RemoveSecondFactor(ctx, bob), secondfactor.ErrNone)
		token, err := auth.IssueReset(ctx, db, bob)
		require.NoError(t, err)
		require.Equal(t, []string{
			"user.create map[permissions:[references.read]]", "user.update map[changed:[role] role:owner]", "user.disable map[]", "user.enable map[]",
			"user.reset map[]", "user.requestReset map[]",
		}, ana.newest(t, "kind=operator"))
		f.do(t, "POST", "/user/reset", fmt.Sprintf(`{"token":%q,"password":"the third horse"}`, token)).json(200)
		require.Equal(t, []string{"user.reset map[]"}, ana.newest(t, "kind=nobody"))
		require.Equal(t, bob, ana.audited(t, "kind=nobody")[0]["object"].(map[string]any)["name"])
		for _, secret := range []string{token, secret, "horse"} {
			require.NotContains(t, ana.call(t, "GET", "/audit", "").Body.String(), secret)
		}
	})
}
