package graph_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

func TestErrorEnvelope(t *testing.T) {
	t.Parallel()
	err := answering(t, 403, http.Header{"Retry-After": {"7"}}, `{"error":{"message":"(#131056) pair rate","type":"OAuthException","code":131056,
		"error_subcode":2494055,"error_data":{"messaging_product":"whatsapp","details":"slow \"down\""},"is_transient":true,
		"error_user_title":"Title","error_user_msg":"Please wait","fbtrace_id":"Atrace"}}`).Get(t.Context(), "42", nil, nil)
	var e *graph.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, graph.Error{
		HTTPStatus: 403, Code: 131056, Subcode: 2494055, Type: "OAuthException", Message: "(#131056) pair rate", Details: `slow "down"`,
		UserTitle: "Title", UserMessage: "Please wait", Transient: true, FBTraceID: "Atrace", RetryAfter: 7 * time.Second,
	}, *e)
	require.Equal(t, `refused with code 131056/2494055 (HTTP 403): (#131056) pair rate: slow "down": Please wait`, e.Error())
}

func TestErrorsInOddShapes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		code    int
		message string
	}{
		"error with status 200":  {200, `{"error":{"message":"too large","code":36000}}`, 36000, "too large"},
		"code and text only":     {400, `{"error":{"message":"m","code":131009}}`, 131009, "m"},
		"code as a string":       {400, `{"error":{"message":"m","code":"131009"}}`, 131009, "m"},
		"code zero":              {400, `{"error":{"message":"m","code":0}}`, 0, "m"},
		"no code":                {400, `{"error":{"message":"m"}}`, graph.NoCode, "m"},
		"details as a string":    {400, `{"error":{"code":100,"error_data":"plain"}}`, 100, "Bad Request: plain"},
		"details of no type":     {400, `{"error":{"code":100,"error_data":[1]}}`, 100, "Bad Request"},
		"members of wrong types": {400, `{"error":{"code":100,"message":{"a":1},"is_transient":"no","fbtrace_id":7}}`, 100, "Bad Request"},
		"error as a string":      {400, `{"error":"nope"}`, graph.NoCode, "Bad Request"},
		"error null":             {400, `{"error":null}`, graph.NoCode, "Bad Request"},
		"HTML":                   {502, `<html>Bad Gateway</html>`, graph.NoCode, "Bad Gateway"},
		"empty":                  {503, ``, graph.NoCode, "Service Unavailable"},
		"array":                  {500, `[]`, graph.NoCode, "Internal Server Error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *graph.Error
			require.ErrorAs(t, answering(t, c.status, nil, c.body).Post(t.Context(), "42/messages", nil, nil), &e)
			require.Equal(t, c.code, e.Code)
			require.Equal(t, c.message, e.Text())
			require.Equal(t, c.status, e.HTTPStatus)
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0).UTC()
	usage := `{"1":[{"type":"messaging","call_count":100,"estimated_time_to_regain_access":3},{"estimated_time_to_regain_access":5}],"2":[]}`
	for name, c := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"none":       {nil, 0},
		"seconds":    {http.Header{"Retry-After": {"90"}}, 90 * time.Second},
		"date":       {http.Header{"Retry-After": {now.Add(time.Minute).Format(http.TimeFormat)}, "Date": nil}, time.Minute},
		"past":       {http.Header{"Retry-After": {now.Add(-time.Minute).Format(http.TimeFormat)}}, 0},
		"wrong here": {http.Header{"Retry-After": {now.Add(61 * time.Minute).Format(http.TimeFormat)}, "Date": {now.Add(time.Hour).Format(http.TimeFormat)}}, time.Minute},
		"negative":   {http.Header{"Retry-After": {"-5"}}, 0},
		"absurd":     {http.Header{"Retry-After": {"999999999"}}, 24 * time.Hour},
		"nonsense":   {http.Header{"Retry-After": {"soon"}}, 0},
		"usage":      {http.Header{"X-Business-Use-Case-Usage": {usage}}, 5 * time.Minute},
		"usage junk": {http.Header{"X-Business-Use-Case-Usage": {"[]"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := graph.SendError(answering(t, 429, c.header, `{"error":{"code":80007,"message":"limit"}}`).Post(t.Context(), "x", nil, nil))
			var limited *provider.RateLimited
			require.ErrorAs(t, err, &limited)
			require.Equal(t, c.want, limited.After)
			require.Equal(t, "80007", limited.Code)
		})
	}
}

func TestSharedErrors(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(testkit.Shared(t), "spec", "meta", "fixtures")
	files, err := filepath.Glob(filepath.Join(folder, "*", "err_*.expect.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	t.Logf("%d errors", len(files))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			var want []struct {
				Type, Text, Details string
				HTTPStatus          int  `json:"http_status"`
				Code                int  `json:"error_code"`
				Subcode             int  `json:"error_subcode"`
				Transient           bool `json:"is_transient"`
			}
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(raw, &want))
			body, err := os.ReadFile(strings.TrimSuffix(file, ".expect.json") + ".json")
			require.NoError(t, err)
			var e *graph.Error
			require.ErrorAs(t, answering(t, want[0].HTTPStatus, nil, string(body)).Get(t.Context(), "x", nil, nil), &e)
			require.Equal(t, want[0].Code, e.Code)
			require.Equal(t, want[0].Subcode, e.Subcode)
			require.Equal(t, want[0].Text, e.Message)
			require.Equal(t, want[0].Type, e.Type)
			require.Equal(t, want[0].Details, e.Details)
			require.Equal(t, want[0].Transient, e.Transient)
		})
	}
}
