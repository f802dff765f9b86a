// Package server is the whole service in one handler: the packages of this
// module wired to routes, with users and tokens, the API's documents, a panel
// and a probe. The command trunkline is a caller of it; a program of your own
// can be another:
//
//	ctx := context.Background()
//	db := sqldb.MustOpen(ctx, "sqlite://chats.db") // or the *sqlx.DB that you have
//	chat, err := server.New(ctx, server.Config{
//		DB:      db,
//		Secrets: []server.Secret{server.Secret(os.Getenv("APP_SECRET"))},
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	go func() { log.Fatal(chat.Run(ctx)) }() // sends, delivers webhooks, retries
//
//	router := mux.NewRouter() // the router that you have
//	router.PathPrefix("/chat/").Handler(http.StripPrefix("/chat", chat))
//	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), router))
//
// [Server.ListenAndServe] is for a program that serves nothing else: it also
// runs the workers, and drains when its context ends. What a route does is a Go
// call of one of the fields of [Server]:
//
//	session, err := chat.Auth.SignUp(ctx, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
//	messages := chat.Messaging.For(session.User.AccountID)
//
// [New] returns [ErrOtherSecret] when the database was written under another
// secret, and [ErrOtherMedia] when other nodes keep their files elsewhere. What a
// request is refused with is a [Problem].
package server
