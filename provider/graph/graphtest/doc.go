// Package graphtest is a fake of Meta's Graph API for tests: WhatsApp lines
// and Facebook pages that take messages, answer with the real error codes, and
// post signed callbacks as Meta does. It checks what it is sent, remembers what
// each contact's phone got, and fails in every way it is told to. It keeps
// files, with downloads that can be spoiled, templates that can be reviewed,
// business profiles, and what pages are subscribed to.
//
// It is no test helper of this module alone: it needs no *testing.T, and a
// program can serve [Server.Handler] itself.
//
//	graph := graphtest.Start(&graphtest.Options{
//		Lines:    []graphtest.Line{line},
//		Callback: "http://localhost:3000/webhooks/provider",
//	})
//	defer graph.Close()
//	// … point the program under test at graph.URL …
//	id, err := graph.Write(ctx, graphtest.Inbound{From: "16505551234", Text: "Hello"})
//	shown, err := graph.WaitShown(ctx, "16505551234", 1)
package graphtest
