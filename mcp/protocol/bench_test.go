package protocol_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime/metrics"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
)

// BenchmarkCall compares a call through the handler, with authentication,
// validation and the chain but neither limits nor audit, with the same call to the
// SDK alone on the same transport and revision. Both take turns of a few calls, so
// that the state of the machine affects both alike. It measures the CPU time of the
// handler and what it allocates, without a network or a client.
func BenchmarkCall(b *testing.B) {
	for _, revision := range []string{"2025-11-25", newest} {
		b.Run(revision, func(b *testing.B) {
			sides := []http.Handler{bare(), ours(b)}
			cpu, heap := make([]time.Duration, len(sides)), make([]uint64, len(sides))
			for i := range sides {
				callMany(b, sides[i], revision, 50) // what is made once, is made
			}
			const turn = 200
			calls := 0
			for b.Loop() {
				for i := range sides {
					began, allocated := testkit.OwnCPUTime(b), allocatedBytes()
					callMany(b, sides[i], revision, turn)
					cpu[i] += testkit.OwnCPUTime(b) - began
					heap[i] += allocatedBytes() - allocated
				}
				calls += turn
			}
			µs := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(calls) }
			b.ReportMetric(µs(cpu[0]), "bare-cpu-µs/call")
			b.ReportMetric(µs(cpu[1]), "cpu-µs/call")
			b.ReportMetric(float64(cpu[1])/float64(cpu[0]), "×bare")
			b.ReportMetric(float64(heap[0])/1024/float64(calls), "bare-KiB/call")
			b.ReportMetric(float64(heap[1])/1024/float64(calls), "KiB/call")
		})
	}
}

// allocatedBytes returns how much the process has allocated since it started.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func callMany(b *testing.B, h http.Handler, revision string, n int) {
	meta := ""
	if revision == newest {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"order_state","arguments":{"reference":7,"id":"ana"}` + meta + `}}`)
	for range n {
		r := httptest.NewRequest(http.MethodPost, "http://chat.example.com"+protocol.Path, bytes.NewReader(body))
		r.Header = http.Header{
			"Authorization": {"Bearer " + everything}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {revision}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"order_state"},
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !bytes.Contains(w.Body.Bytes(), []byte(`"state":"sent"`)) {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// bare returns the SDK with a tool that ignores its arguments.
func bare() http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{
		Name: "order_state", Description: "Says whether an order has left.", InputSchema: json.RawMessage(`{"type":"object"}`),
	}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in orderArguments
		if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
			return nil, fmt.Errorf("reading arguments: %w", err)
		}
		out, err := json.Marshal(order{in.Reference, in.ID, "sent"})
		if err != nil {
			return nil, fmt.Errorf("writing the result: %w", err)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{text(string(out))}, StructuredContent: json.RawMessage(out)}, nil
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true})
}

func ours(b *testing.B) http.Handler {
	s := newShop(b, &mcp.Options{Limit: -1, AccountLimit: -1, NoAudit: true})
	s.opts.BaseURL, s.opts.Authenticate = "http://chat.example.com", authenticate
	h, err := protocol.New(s.Registry, &s.opts)
	require.NoError(b, err)
	return h
}
