package server_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// audited are the entries of GET /audit that a query asks for, newest first.
func (c client) audited(t *testing.T, query string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, it := range c.call(t, "GET", "/audit?"+query, "").json(200)["items"].([]any) {
		out = append(out, it.(map[string]any))
	}
	return out
}

// actions are those of entries.
func actions(entries []map[string]any) []string {
	out := []string{}
	for _, e := range entries {
		out = append(out, e["action"].(string))
	}
	return out
}

func TestAccountAudit(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setupOn(t, db, nil)
		ana, eve := f.as(t, "ana"), f.as(t, "eve")
		ref := ana.sandbox(t)
		at := fmt.Sprintf("/reference/%d", ref)
		a := ana.call(t, "PATCH", at, `{"name":"Café","settings":{"lateIds":"true"}}`)
		a.json(200)
		ana.call(t, "PATCH", at, `{"name":""}`).problem(422, "validation")
		eve.call(t, "PATCH", at, `{"name":"Mine"}`).problem(404, "not_found")
		f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"wrong"}`).problem(401, "unauthorized")
		f.do(t, "POST", "/user/login", `{"email":"ben@example.org","password":"wrong"}`).problem(401, "unauthorized")
		in := f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct horse"}`).json(200)

		got := ana.audited(t, "")
		require.Equal(t, []string{"user.login", "user.loginFailed", "reference.update", "reference.create", "account.create"}, actions(got))
		user := in["user"].(map[string]any)["id"]
		require.Equal(t, "nobody", got[1]["actor"].(map[string]any)["kind"])
		require.Nil(t, got[1]["actor"].(map[string]any)["userId"])
		require.Equal(t, map[string]any{"type": "user", "id": user, "name": "ana@example.org"}, got[1]["object"])
		update := got[2]
		require.Equal(t, a.Header().Get("X-Request-Id"), update["requestId"])
		require.Equal(t, "192.0.2.1", update["address"])
		require.Equal(t, map[string]any{"type": "reference", "id": fmt.Sprint(ref), "name": "Café"}, update["object"])
		require.Equal(t, map[string]any{"changed": []any{"name", "settings.lateIds"}}, update["details"])
		require.EqualValues(t, ref, update["reference"])
		actor := update["actor"].(map[string]any)
		require.Equal(t, user, actor["userId"])
		require.Equal(t, "ana@example.org", actor["email"])
		require.Equal(t, "login", actor["kind"])
		require.NotEmpty(t, actor["tokenId"])

		require.Len(t, ana.audited(t, fmt.Sprintf("reference=%d&user=%s", ref, user)), 2)
		require.Equal(t, []string{"reference.create"}, actions(ana.audited(t, "objectType=reference&action=reference.create")))
		require.Equal(t, []string{"account.create"}, actions(eve.audited(t, "")), "accounts are apart")
		require.Equal(t, []string{"query.cursor"}, locations(ana.call(t, "GET", "/audit?cursor=x+y", "").problem(422, "validation")))
	})
}

func TestAccountAuditCSV(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	ana.call(t, "POST", "/reference", `{"name":"=1+1","type":"provider-sandbox"}`).json(201)
	a := ana.call(t, "GET", "/audit?format=csv&objectType=reference", "")
	require.Equal(t, http.StatusOK, a.Code)
	require.Equal(t, "text/csv; charset=utf-8; header=present", a.Header().Get("Content-Type"))
	require.Empty(t, a.Header().Get("Link"))
	lines, err := csv.NewReader(strings.NewReader(a.Body.String())).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 2)
	require.Equal(t, "'=1+1", lines[1][12])
	export := ana.audited(t, "action=audit.export")
	require.Len(t, export, 1)
	require.Equal(t, a.Header().Get("X-Request-Id"), export[0]["requestId"])
}
