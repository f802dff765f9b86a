package remote_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trunklinehq/trunkline/mcp/remote"
)

// asProgram makes the test binary another program: "server" is an MCP server on its
// standard input and output, "client" a client of the server at its last argument.
const asProgram = "REMOTE_TEST_PROGRAM"

// TestMain runs the test binary as a server or a client, and provides a name server
// that resolves every name to this machine.
func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(asProgram) {
	case "server":
		err = beServer(context.Background())
	case "client":
		err = beClient(context.Background(), os.Args[len(os.Args)-1])
	default:
		var conn net.PacketConn
		if conn, err = (&net.ListenConfig{}).ListenPacket(context.Background(), "udp", "127.0.0.1:0"); err == nil {
			go serveNames(conn)
			net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
			}}
			os.Exit(m.Run())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveNames answers every question for an IPv4 address with 127.0.0.1.
func serveNames(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		i := 12
		for i < n && buf[i] != 0 {
			i += 1 + int(buf[i])
		}
		if i+5 > n {
			continue
		}
		reply := append([]byte{buf[0], buf[1], 0x84, 0, 0, 1, 0, 0, 0, 0, 0, 0}, buf[12:i+5]...)
		if buf[i+2] == 1 {
			reply[7] = 1
			reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
		}
		_, _ = conn.WriteTo(reply, from)
	}
}

// program is this binary as a server.
func program(t *testing.T) remote.Program {
	t.Helper()
	return remote.Program{Path: os.Args[0], Env: append(os.Environ(), asProgram+"=server")}
}

// beServer is a server with one tool, add.
func beServer(ctx context.Context) error {
	s := sdk.NewServer(&sdk.Implementation{Name: "beside", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "add", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in struct{ A, B int64 }
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: json.RawMessage(fmt.Sprintf(`{"sum":%d}`, in.A+in.B))}, nil
	})
	return s.Run(ctx, &sdk.StdioTransport{})
}

// beClient registers a server, approves its tools and calls each of them.
func beClient(ctx context.Context, url string) error {
	db, closeDB, err := memory(ctx)
	if err != nil {
		return err
	}
	defer closeDB()
	s, err := remote.New(ctx, db, &remote.Options{Allow: []string{"127.0.0.1", "localhost", "::1"}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	err = callAll(ctx, s.For("acme"), url)
	cancel()
	if err != nil {
		return err
	}
	return <-done
}

func callAll(ctx context.Context, a *remote.Account, url string) error {
	srv, err := a.Create(ctx, remote.NewServer{Name: "s", URL: url})
	if err != nil {
		return err
	}
	if srv, err = a.Refresh(ctx, srv.ID); err != nil {
		return err
	}
	var c remote.Change
	for _, t := range srv.Tools {
		c.Approve = append(c.Approve, remote.Approval{Name: t.Name, Hash: t.Hash})
	}
	if srv, err = a.Update(ctx, srv.ID, c); err != nil {
		return err
	}
	for _, t := range srv.Tools {
		if _, err := a.Call(ctx, remote.Call{Server: "s", Tool: t.Name, Arguments: fitting(t.Schema)}); err != nil {
			fmt.Fprintln(os.Stderr, t.Name, err) // what tools make of it is theirs
		}
	}
	return nil
}

// fitting returns arguments for a schema.
func fitting(schema json.RawMessage) json.RawMessage {
	var s struct {
		Properties map[string]struct{ Type string }
	}
	_ = json.Unmarshal(schema, &s)
	args := map[string]any{}
	for name, p := range s.Properties {
		switch p.Type {
		case "number", "integer":
			args[name] = 5
		case "boolean":
			args[name] = true
		case "string":
			args[name] = "text"
		case "array":
			args[name] = []any{}
		default:
			args[name] = map[string]any{}
		}
	}
	out, _ := json.Marshal(args)
	return out
}
