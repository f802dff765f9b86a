package server_test

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/mux"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// BenchmarkREST lists three references with a token and a limit, beside a bare
// handler of the same router that compares a token, makes the same query with a
// prepared statement and writes the same JSON. "token" is what the check of the
// caller's token takes of it, which reads its session. They take turns.
func BenchmarkREST(b *testing.B) {
	s, db, token := listServer(b)
	request := "GET /reference/list HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	const third = `"name":"Shop 2"`
	compareREST(b, requests(b, bareList(b, s, db, token), request, third), requests(b, s, request, third), authentications(b, s, token))
}

// listServer is a server with a limit and three references, and a user's token.
func listServer(b *testing.B) (*server.Server, *sqlx.DB, string) {
	db := testkit.Open(b, testkit.SQLiteURL(b))
	s, err := server.New(b.Context(), server.Config{
		DB: db, Secrets: []server.Secret{secret}, Logger: slog.New(slog.DiscardHandler), APILimit: 1 << 30,
	})
	require.NoError(b, err)
	token := ""
	do := func(method, path, body string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}}
		s.ServeHTTP(w, r)
		require.Less(b, w.Code, 300, w.Body)
		return w
	}
	var in struct{ Token string }
	require.NoError(b, json.Unmarshal(do("POST", "/user/signup", `{"email":"a@example.org","password":"long enough a word","name":"A"}`).Body.Bytes(), &in))
	token = in.Token
	for i := range 3 {
		do("POST", "/reference", fmt.Sprintf(`{"name":"Shop %d","type":"provider-sandbox"}`, i))
	}
	return s, db, token
}

// bareReference has the columns that the server reads, and the members that it
// writes.
type bareReference struct {
	ID           int64           `json:"id" db:"id"`
	Account      string          `json:"-" db:"account"`
	Name         string          `json:"name" db:"name"`
	Kind         string          `json:"type" db:"kind"`
	Stored       string          `json:"-" db:"settings"`
	Settings     json.RawMessage `json:"settings"`
	Session      json.RawMessage `json:"session"`
	Capabilities json.RawMessage `json:"capabilities"`
	Callback     string          `json:"-" db:"callback_url"`
	Revision     int64           `json:"-" db:"revision"`
	State        string          `json:"-" db:"state"`
	Proved       bool            `json:"-" db:"proved"`
	SignedUS     int64           `json:"-" db:"signed_us"`
	RemoteID     string          `json:"-" db:"remote_id"`
	RemoteName   string          `json:"-" db:"remote_name"`
	RemoteBiz    string          `json:"-" db:"remote_biz"`
	ConnectedUS  int64           `json:"-" db:"connected_us"`
	InboundUS    int64           `json:"-" db:"inbound_us"`
	AckUS        int64           `json:"-" db:"ack_us"`
	ProbeUS      int64           `json:"-" db:"probe_us"`
	ErrorCode    string          `json:"-" db:"error_code"`
	ErrorMessage string          `json:"-" db:"error_message"`
	ErrorUS      int64           `json:"-" db:"error_us"`
	ErrorRetryUS int64           `json:"-" db:"error_retry_us"`
	QR           string          `json:"-" db:"qr"`
	PairingCode  string          `json:"-" db:"pairing_code"`
	PairingUS    int64           `json:"-" db:"pairing_until_us"`
	Node         string          `json:"-" db:"node"`
	CreatedUS    int64           `json:"createdAt" db:"created_us"`
	UpdatedUS    int64           `json:"updatedAt" db:"updated_us"`
}

// bareList is the least that a handler of the same request does. Parts of its
// answer are constants.
func bareList(b *testing.B, s http.Handler, db *sqlx.DB, token string) http.Handler {
	var sample struct{ Items []bareReference }
	require.NoError(b, json.Unmarshal(getList(b, s, token), &sample))
	var account string
	require.NoError(b, db.Get(&account, `SELECT account FROM messaging_reference LIMIT 1`))
	list, err := db.Preparex(`SELECT ` + bareColumns + ` FROM messaging_reference WHERE account = $1 ORDER BY id LIMIT 51`)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, list.Close()) })
	want := []byte("Bearer " + token)
	router := mux.NewRouter()
	router.HandleFunc("/reference/list", func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var rows []bareReference
		if err := list.SelectContext(r.Context(), &rows, account); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		for i := range rows {
			rows[i].Settings, rows[i].Session, rows[i].Capabilities = sample.Items[0].Settings, sample.Items[0].Session, sample.Items[0].Capabilities
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"items": rows, "next": nil})
	}).Methods(http.MethodGet)
	return router
}

const bareColumns = `id, account, name, kind, settings, callback_url, revision, state, proved, signed_us, remote_id, remote_name, remote_biz,
	connected_us, inbound_us, ack_us, probe_us, error_code, error_message, error_us, error_retry_us, qr, pairing_code, pairing_until_us, node,
	created_us, updated_us`

// getList is the server's answer.
func getList(b *testing.B, s http.Handler, token string) []byte {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/reference/list", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+token)
	s.ServeHTTP(w, r)
	require.Equal(b, http.StatusOK, w.Code, w.Body)
	return w.Body.Bytes()
}
