// Package remote lets flows and models use the tools of foreign MCP servers. An
// account registers servers by their address, approves their tools one by one, and
// calls them over Streamable HTTP with the official client.
//
//	s, err := remote.New(ctx, db, nil)
//	go s.Run(ctx)
//	account := s.For(remote.OneAccount)
//	server, err := account.Create(ctx, remote.NewServer{Name: "shop", URL: "https://shop.example.org/mcp"})
//	server, err = account.Refresh(ctx, server.ID) // asks for its tools
//	server, err = account.Update(ctx, server.ID, remote.Change{Approve: []remote.Approval{{Name: "stock", Hash: server.Tools[0].Hash}}})
//	tools, err := account.Tools(ctx, []string{"shop"})
//
// A foreign server is not trusted. An approval pins a tool: it is for the SHA-256
// of its name, description, schema and hints, and a tool that changes is off until
// it is approved again. Servers are reached over https at public addresses only,
// unless [Options].Allow names them. Redirects are not followed, answers are
// limited to 1 MB, elicitation is declined and sampling is not offered. A server
// that fails repeatedly is not called for a while.
//
// https://modelcontextprotocol.io/specification/2026-07-28
package remote
