// Package messenger is the provider of Facebook pages on the Messenger
// Platform. It sends texts, files, quick replies and templates, keeps to Meta's
// limits, shows that messages were seen and answers are being written, checks
// credentials, and reads everything that a page receives, watermarks, echoes
// and handovers included; of what it does not know it hands on the bytes as
// [provider.Raw].
//
// It stores nothing and serves no route: package messaging keeps what it
// parses, and the owner of the callback's address gives it the bytes. A program
// without messaging can use it alone:
//
//	pages := messenger.New(nil)
//	session, err := pages.Open(ctx, provider.Reference{ID: 1, Settings: settings}, inbox)
//	to, err := pages.Address("5552000000000009@messenger")
//	receipt, err := session.Send(ctx, provider.Outbound{ID: "order-7", To: to, Content: provider.Text{Text: "Hello"}})
//
// What the contract of all references does not say (personas, private replies,
// threads that change hands) a [Client] calls by type.
package messenger
