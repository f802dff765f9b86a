// Package server is the whole service in one handler: the packages of this
// module wired to routes, with users and tokens, the API's documents, a panel
// and a probe. The command trunkline is a caller of it; a program of your own
// can be another:
//
//	db, err := sqldb.Open(ctx, "sqlite://chats.db")
//	s, err := server.New(ctx, server.Config{
//		DB:      db,
//		Secrets: []server.Secret{"at least thirty-two characters of secret"},
//	})
//	err = s.ListenAndServe(ctx, ":3000") // until ctx ends, then drains
//
// or, inside an HTTP server of its own,
//
//	go s.Run(ctx)            // the workers
//	mux.Handle("/", s)       // the routes
//	s.Auth.SignUp(ctx, …)    // what a route does, as a Go call
package server
