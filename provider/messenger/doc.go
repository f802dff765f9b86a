// Package messenger is the provider of Facebook pages on the Messenger
// Platform. It sends texts, files, quick replies and templates within Meta's
// limits, shows that messages were seen and that the page is typing, checks
// credentials, and reads everything that a page receives, including watermarks,
// echoes and handovers. What it does not support, it reports as [provider.Raw].
//
// It stores nothing and serves no route: package messaging stores what it
// parses, and the handler of the callback's address passes it the bytes. A
// program without messaging can use it alone:
//
//	pages := messenger.New(nil)
//	session, err := pages.Open(ctx, provider.Reference{ID: 1, Settings: settings}, inbox)
//	to, err := pages.Address("5552000000000009@messenger")
//	receipt, err := session.Send(ctx, provider.Outbound{ID: "order-7", To: to, Content: provider.Text{Text: "Hello"}})
//
// A [Client] has typed calls for what the common contract does not contain:
// personas, private replies and handovers of threads.
package messenger
