// Package cloud is the provider of references of the WhatsApp Business Cloud API.
// It sends every content type and keeps to Meta's limits and rates, fetches
// files, manages templates, checks credentials, marks messages read, and reads
// everything that a number receives; of what it does not know it hands on the
// bytes as [provider.Raw].
//
// It stores nothing and serves no route: package messaging keeps what it
// parses, and the owner of the callback's address gives it the bytes. A program
// without messaging can use it alone:
//
//	lines := cloud.New(nil)
//	session, err := lines.Open(ctx, provider.Reference{ID: 1, Settings: settings}, inbox)
//	to, err := lines.Address("+1 650 555 1234")
//	receipt, err := session.Send(ctx, provider.Outbound{ID: "order-7", To: to, Content: provider.Text{Text: "Hello"}})
//
// What the contract of all references does not say (flows, catalogs, payments,
// profiles, registration, marketing messages) a [Client] calls by type:
//
//	client, err := lines.Client(settings)
//	sent, err := client.Send(ctx, cloud.Message{To: "16505551234", Body: cloud.Interactive{
//		Body: "Book a table", Action: cloud.Flow{ID: "123456", Text: "Book now", Screen: "BOOKING"},
//	}})
package cloud
