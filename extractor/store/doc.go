// Package store keeps the extractors of accounts: patterns, kinds of
// values, intents and questions to a model, each with the references, bots or flows
// whose messages it reads. It checks them, trains those that learn, keeps all
// of them ready, and runs them on a text. What becomes of the values is its
// caller's business: it knows no chats, webhooks or flows.
//
//	s, err := store.New(ctx, db, nil)
//	go s.Run(ctx)
//	e, err := s.For(account).Create(ctx, store.NewExtractor{
//		Name: "order number", Kind: store.Regex, Scope: store.Scope{Reference: 1},
//		Config: json.RawMessage(`{"pattern": "#(?P<order>\\d+)", "groups": {"order": "number"}}`),
//	})
//	results, err := s.For(account).Extract(ctx, store.Message{Reference: 1, Said: store.Said{Text: "where is #17?"}})
//
// Intents are learned in the background, by [Service.Run]; until they are, those of
// before serve. Extractors of kind [AI] need Options.Model.
//
// Tables begin with extractor_. An [*Invalid] names the field of a configuration
// that is refused, [ErrUntrained] says that intents have never been learned.
package store
