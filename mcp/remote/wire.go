package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxAnswer bounds an answer of a server, in bytes.
	maxAnswer = 1 << 20
	// DepthHeader tells a server that a flow or an agent of this program is
	// calling, and how deeply such calls are nested. It keeps servers of this
	// program from calling each other without end.
	DepthHeader = "Trunkline-Depth"

	versionHeader     = "Mcp-Protocol-Version"
	idempotencyHeader = "Idempotency-Key"
)

var errTooLarge = errors.New("the answer is larger than 1 MB")

// exchange is the state of the request of a call.
type exchange struct {
	key     string             // identifies the call
	cancel  context.CancelFunc // ends the call
	once    sync.Once          // only the first request is the call, others follow from it
	reached atomic.Bool        // there was a connection: the server may have received it
	status  atomic.Int64       // of HTTP; 0: no answer
	large   atomic.Bool        // the answer was truncated
}

type exchangeKey struct{}

// within returns a context whose requests belong to x.
func (x *exchange) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// wire sends the requests of one connection. It adds what they need and bounds the
// answers.
type wire struct {
	next      http.RoundTripper
	authorize func(*http.Request) error // nil: nothing is added
	version   atomic.Value              // of the protocol, once it is negotiated
}

// RoundTrip makes one request.
func (w *wire) RoundTrip(in *http.Request) (*http.Response, error) {
	r := in.Clone(in.Context())
	r.Header.Set("User-Agent", "Trunkline")
	r.Header.Set(DepthHeader, "1")
	if v, ok := w.version.Load().(string); ok && r.Header.Get(versionHeader) == "" {
		r.Header.Set(versionHeader, v)
	}
	if w.authorize != nil {
		if err := w.authorize(r); err != nil {
			if r.Body != nil {
				_ = r.Body.Close()
			}
			return nil, err
		}
	}
	first := false
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if x != nil {
		x.once.Do(func() { first = true })
	}
	if first {
		r.Header.Set(idempotencyHeader, x.key)
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
			GotConn: func(httptrace.GotConnInfo) { x.reached.Store(true) },
		}))
	}
	res, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err //nolint:wrapcheck // http.Client expects the transport's own
	}
	if first {
		x.status.Store(int64(res.StatusCode))
	}
	res.Body = &boundedBody{ReadCloser: res.Body, left: maxAnswer, exchange: x}
	return res, nil
}

// boundedBody is a body that returns an error when it becomes too large.
type boundedBody struct {
	io.ReadCloser
	left     int64
	exchange *exchange // nil: not part of a call
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		if b.exchange != nil {
			b.exchange.large.Store(true)
			b.exchange.cancel()
		}
		return 0, errTooLarge
	}
	return n, err //nolint:wrapcheck // io.EOF must stay itself
}

// exact is a transport that keeps structured results byte for byte. The client
// would decode their numbers as float64, so exact passes their JSON as a text.
type exact struct {
	sdk.Transport
	version *atomic.Value // receives the negotiated version
}

func (t exact) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // the client wraps it
	}
	return exactConnection{c, t.version}, nil
}

type exactConnection struct {
	sdk.Connection
	version *atomic.Value
}

func (c exactConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if r, ok := msg.(*jsonrpc.Response); ok && err == nil {
		c.rewrite(r)
	}
	return msg, err //nolint:wrapcheck // io.EOF must stay itself
}

// rewrite replaces structuredContent by its JSON as a text, and records the version
// in the answer to initialize.
func (c exactConnection) rewrite(r *jsonrpc.Response) {
	if len(r.Result) > maxAnswer {
		r.Result, r.Error = nil, errTooLarge
		return
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(r.Result, &members); err != nil {
		return
	}
	var version string
	if json.Unmarshal(members["protocolVersion"], &version) == nil && version != "" {
		c.version.Store(version)
	}
	value, ok := members["structuredContent"]
	if !ok {
		return
	}
	text, err := json.Marshal(string(value))
	if err != nil {
		return
	}
	members["structuredContent"] = text
	if out, err := json.Marshal(members); err == nil {
		r.Result = out
	}
}
