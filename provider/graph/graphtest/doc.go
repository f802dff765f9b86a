// Package graphtest is a fake of Meta's Graph API for tests. It has WhatsApp
// numbers and Facebook pages that accept messages, answer with the real error
// codes, and post signed callbacks as Meta does. It checks requests, records
// what each contact's phone shows, and can fail in many ways. It stores files,
// whose downloads can be made to fail, templates, which can be reviewed,
// business profiles, and the subscriptions of pages.
//
// Programs outside of this module can use it: it needs no *testing.T, and
// [Server.Handler] can be served by any server.
//
//	graph := graphtest.Start(&graphtest.Options{
//		Numbers:    []graphtest.Number{number},
//		Callback: "http://localhost:3000/webhooks/provider",
//	})
//	defer graph.Close()
//	// … point the program under test at graph.URL …
//	id, err := graph.Write(ctx, graphtest.Inbound{From: "16505551234", Text: "Hello"})
//	shown, err := graph.WaitShown(ctx, "16505551234", 1)
package graphtest
