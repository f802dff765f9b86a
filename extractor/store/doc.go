// Package store keeps the extractors of accounts: patterns, kinds of values,
// intents and questions to a model, each with the references, bots or flows whose
// messages it reads. It validates them, trains those that learn, keeps them
// compiled, and runs them on a text. The caller decides what to do with the values:
// the package does not know chats, webhooks or flows.
//
//	s, err := store.New(ctx, db, nil)
//	go s.Run(ctx)
//	e, err := s.For(account).Create(ctx, store.NewExtractor{
//		Name: "order number", Kind: store.Regex, Scope: store.Scope{Reference: 1},
//		Config: json.RawMessage(`{"pattern": "#(?P<order>\\d+)", "groups": {"order": "number"}}`),
//	})
//	results, err := s.For(account).Extract(ctx, store.Message{Reference: 1, Said: store.Said{Text: "where is #17?"}})
//
// [Service.Run] learns intents in the background. Until it has, the previous ones
// are in use. Extractors of kind [AI] need Options.Model.
//
// Tables begin with extractor_. An [*Invalid] names the field of a configuration
// that is refused. [ErrUntrained] reports intents that have never been learned.
package store
