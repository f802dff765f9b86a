package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// examined runs the doctor and returns what it finds, by what was looked at.
func examined(t *testing.T, env []string, want int, args ...string) map[string][]finding {
	t.Helper()
	code, out, why := looked(t, env, append([]string{"doctor", "--json"}, args...))
	require.Equal(t, want, code, "%s%s", out, why)
	require.Empty(t, why)
	var report struct {
		Version  string
		Findings []finding
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, programVersion(), report.Version)
	by := map[string][]finding{}
	for _, f := range report.Findings {
		require.Equal(t, f.State != stateOK, f.Cure != "", "%v", f)
		by[f.Check] = append(by[f.Check], f)
	}
	return by
}

// looked runs the doctor. It repeats that when it took so long that a check may
// have timed out because the machine was paused.
func looked(t *testing.T, env, args []string) (code int, stdout, stderr string) {
	t.Helper()
	for range 3 {
		started := time.Now()
		if code, stdout, stderr = output(t, env, args...); time.Since(started) < askTimeout {
			break
		}
	}
	return code, stdout, stderr
}

// TestDoctor looks at a server that runs, with a reference that has no valid token
// and a receiver that is gone, and at what is left when it has ended.
func TestDoctor(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		env := []string{"TRUNKLINE_DATABASE_URL=" + url, "TRUNKLINE_DATA=" + t.TempDir(), "TRUNKLINE_WEBHOOK_ALLOW=127.0.0.1"}
		addr := testkit.FreeAddress(t)
		p, base := start(t, env, "--addr", addr)
		_, session := post(t, base+"/user/signup", account)
		there := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(there.Close)
		gone := "http://" + testkit.FreeAddress(t)
		for _, target := range []string{there.URL, gone + "/secret-path"} {
			register(t, base, session["token"].(string), target)
		}
		db := testkit.Open(t, url)
		db.MustExec(`UPDATE messaging_reference SET state = 'FAILED', error_code = 'credentials', error_message = 'The token has expired' WHERE id = 2`)

		got := examined(t, env, 1, "--addr", addr)
		if strings.HasPrefix(url, "postgres") {
			require.Contains(t, got["database"][0].Text, "fsync off", "as in tests")
		} else {
			require.Equal(t, finding{Check: "database", State: stateOK, Text: "SQLite"}, got["database"][0])
		}
		for _, check := range []string{"settings", "program", "tables", "secret", "port"} {
			require.Equal(t, stateOK, got[check][0].State, "%v", got[check])
		}
		require.Equal(t, []finding{
			{"references", stateBad, "reference 2 (provider-sandbox) is FAILED, credentials: The token has expired", "give the reference a new access token, and start its session"},
			{Check: "references", State: stateOK, Text: "1 of 2 have no error"},
		}, got["references"])
		require.Equal(t, stateBad, got["webhooks"][0].State)
		require.Contains(t, got["webhooks"][0].Text, "nothing answers at "+gone+": ")
		require.NotContains(t, got["webhooks"][0].Text, "secret-path")
		require.Equal(t, "1 of 2 can be reached", got["webhooks"][1].Text)
		require.Contains(t, got["address"][0].Text, "can be reached only from this machine")
		require.Contains(t, got["clock"], finding{Check: "clock", State: stateOK, Text: "it is not behind the last write to the database"})
		require.Equal(t, strings.HasPrefix(url, "postgres"), len(got["clock"]) == 2)
		require.Contains(t, examined(t, env, 1, "--addr", addr, "--base-url", there.URL+"0")["address"][0].Text, "can be reached only from")
		p.terminate(t)
		require.Equal(t, "the database was written with another secret", examined(t, env, 1, "--secret", longSecret)["secret"][0].Text)
		if strings.HasPrefix(url, "postgres") {
			require.Contains(t, examined(t, env, 1, "--data", t.TempDir())["secret"][0].Text, "there is no secret, but the database")
		}
		beside(t, db, env, addr)
	})
}

// beside checks the doctor with tables of another version, and with another program
// on the port.
func beside(t *testing.T, db *sqlx.DB, env []string, addr string) {
	t.Helper()
	db.MustExec(`INSERT INTO webhook_schema_version (version_id, is_applied) VALUES (99, TRUE)`)
	require.Equal(t, "newer than this program: the tables of webhook", examined(t, env, 1)["tables"][0].Text)
	code, _, why := output(t, env, "--addr", "127.0.0.1:0")
	require.Equal(t, 2, code)
	require.Contains(t, why, "the tables of webhook have version 99, this program knows", "the server does not start either")
	require.Contains(t, why, "start the version that wrote them, or a later one")
	db.MustExec(`DELETE FROM webhook_schema_version WHERE version_id > 1`)
	require.Equal(t, "older than this program: the tables of webhook", examined(t, env, 0)["tables"][0].Text)

	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
	require.NoError(t, err)
	other := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = other.Serve(ln) }()
	t.Cleanup(func() { _ = other.Close() })
	port := examined(t, env, 1, "--addr", addr)["port"][0]
	require.Equal(t, stateBad, port.State)
	require.Contains(t, port.Text, "it is not used by a trunkline")
}

// register adds a reference with an endpoint.
func register(t *testing.T, base, token, target string) {
	t.Helper()
	do := func(path, body string) map[string]any {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		status, answer := send(t, req)
		require.Equal(t, 201, status, answer)
		return answer
	}
	ref := do("/reference", `{"name":"Shop","type":"provider-sandbox"}`)
	do("/references/registerWebHook", fmt.Sprintf(`{"reference":%v,"webhook":%q}`, ref["id"], target))
}

// TestDoctorOfNothing finds a machine on which nothing was started yet, and one
// on which nothing can be.
func TestDoctorOfNothing(t *testing.T) {
	t.Parallel()
	code, out, why := output(t, nil, "doctor", "--addr", "127.0.0.1:0")
	require.Zero(t, code, why)
	require.Regexp(t, `(?m)^ok    settings    all can be read$`, out)
	require.Regexp(t, `(?m)^ok    data        the folder trunkline-data is created at the first start$`, out)
	require.Regexp(t, `(?m)^warn  database    the database does not exist yet\n {18}-> it is created at the first start`, out)

	got := examined(t, nil, 1, "--log", "loud")
	require.Equal(t, "--log: must be debug, info, warn or error", got["settings"][0].Text)
	got = examined(t, nil, 1, "--addr", "127.0.0.1:0", "--data", file(t, "x"), "--tls-cert", "none", "--tls-key", "none",
		"--database-url", "postgres://u:hush@127.0.0.1:1/x", "--base-url", "http://trunkline.invalid")
	require.Equal(t, stateBad, got["data"][0].State)
	require.Equal(t, stateBad, got["database"][0].State)
	require.NotContains(t, got["database"][0].Text, "hush")
	require.Equal(t, stateBad, got["tls"][0].State)
	require.Contains(t, got["address"][0].Text, "is not encrypted")
	require.Contains(t, got["address"][1].Text, "the server is not running")
}
