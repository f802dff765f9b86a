package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collected "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// collector takes traces over OTLP, and keeps the names of spans by the trace.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	traces  map[string]map[string]bool
	arrived testsignal.Signal
}

func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{traces: map[string]map[string]bool{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req collected.ExportTraceServiceRequest
		if r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &req) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		defer c.arrived.Send()
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, from := range req.GetResourceSpans() {
			for _, scope := range from.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					id := fmt.Sprintf("%x", s.GetTraceId())
					if c.traces[id] == nil {
						c.traces[id] = map[string]bool{}
					}
					c.traces[id][s.GetName()] = true
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// of returns the names of the spans of a trace.
func (c *collector) of(id string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.traces[id]))
}

// all returns the ids of the traces.
func (c *collector) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.traces))
}

// TestReadme runs the lines of the README against another collector, has a
// contact write, and finds there what followed.
func TestReadme(t *testing.T) {
	t.Parallel()
	c, addr := collect(t), testkit.FreeAddress(t)
	program := testkit.Build(t, ".") + "/otel -addr " + addr + " &"
	sh := testkit.NewShell(t, "OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_BSP_EXPORT_TIMEOUT=60000", "OTEL_EXPORTER_OTLP_TIMEOUT=60000")
	sh.Run(t, testkit.ReadGuide(t, "README.md").Block(t, "start", "cd examples/otel\n", "", "go run .", program,
		"http://localhost:4318", c.URL, "SAMPLER_ARG=0.1", "SAMPLER_ARG=0"))
	testkit.AwaitListener(t, addr)
	base, token := "http://"+addr, ""
	post := func(path, body, parent string) map[string]any {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, bytes.NewBufferString(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		if parent != "" {
			req.Header.Set("Traceparent", parent)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, http.StatusCreated, res.StatusCode)
		var out map[string]any
		require.NoError(t, json.NewDecoder(res.Body).Decode(&out))
		return out
	}
	token = post("/user/signup", `{"email":"ana@example.org","password":"correct horse","name":"Ana"}`, "")["token"].(string)
	post("/reference", `{"name":"Shop","type":"provider-sandbox"}`, "")
	post("/references/registerWebHook", `{"reference":1,"webhook":"trunkline://echo"}`, "")
	const trace = "0af7651916cd43dd8448eb211c80319c"
	post("/sandbox/1/messages", `{"from":"bob","type":"text","text":"hi"}`, "00-"+trace+"-b7ad6b7169203331-01")
	testkit.Until(t, []*testsignal.Signal{&c.arrived}, func() bool { return len(c.of(trace)) == 3 })
	require.Equal(t, []string{"POST /sandbox/{reference}/messages", "messaging.receive", "webhook.deliver"}, c.of(trace))
	require.Len(t, c.all(), 1, "the sampler of the environment takes none but what the caller took")
}
