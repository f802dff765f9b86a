package cloud_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// A reference can be used without package messaging; here its network is a fake.
func Example() {
	ctx := context.Background()
	network := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{{
		PhoneNumberID: "700100200300", BusinessAccountID: "800100200300", AccessToken: "token",
	}}})
	defer network.Close()

	refs := cloud.New(&cloud.Options{GraphURL: network.URL})
	session, err := refs.Open(ctx, provider.Reference{ID: 1, Settings: provider.Settings{
		"phoneNumberId": "700100200300", "businessAccountId": "800100200300",
		"accessToken": "token", "appSecret": "secret", "verifyToken": "word",
	}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = session.Close(ctx) }()

	to, err := refs.Address("+1 (650) 555-1234")
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := session.Send(ctx, provider.Outbound{ID: "order-7", To: to, Content: provider.Text{Text: "On its way"}})
	fmt.Println(receipt.MessageID != "", err)
	for _, m := range network.Shown(to.Phone) {
		fmt.Println(m.To, m.Text, m.CallbackData)
	}
	// Output:
	// true <nil>
	// 16505551234 On its way order-7
}

// A program that needs more than the common contract makes typed calls.
func ExampleClient_Send() {
	ctx := context.Background()
	network := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{{
		PhoneNumberID: "700100200300", BusinessAccountID: "800100200300", AccessToken: "token",
	}}})
	defer network.Close()

	client, err := cloud.New(&cloud.Options{GraphURL: network.URL}).Client(provider.Settings{
		"phoneNumberId": "700100200300", "businessAccountId": "800100200300",
		"accessToken": "token", "appSecret": "secret", "verifyToken": "word",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	table := cloud.Interactive{Body: "A table for two?", Action: cloud.Flow{ID: "123456", Text: "Book now", Screen: "BOOKING"}}
	sent, err := client.Send(ctx, cloud.Message{To: "16505551234", Body: table})
	fmt.Println(sent.WaID, err)

	table.Action = cloud.LinkButton{Text: "A text that no button holds", URL: "https://example.com"}
	_, err = client.Send(ctx, cloud.Message{To: "16505551234", Body: table})
	if bad, ok := errors.AsType[*provider.Invalid](err); ok {
		fmt.Println(bad.Field, bad.Message)
	}
	// Output:
	// 16505551234 <nil>
	// message.interactive.action.parameters.display_text must have at most 20 characters
}

// A callback is split by reference first; only then, with the reference's secret known,
// is it worth to be read.
func ExampleProvider_Parse() {
	body := []byte(`{"object":"whatsapp_business_account","entry":[{"id":"800100200300","changes":[{"field":"messages","value":{
		"metadata":{"phone_number_id":"700100200300"},"contacts":[{"profile":{"name":"Ana"},"wa_id":"16505551234"}],
		"messages":[{"from":"16505551234","id":"wamid.1","timestamp":"1760000000","type":"text","text":{"body":"Hello"}}]}}]}]}`)
	refs := cloud.New(nil)
	parts, err := refs.Route(body)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, part := range parts {
		events, _ := refs.Parse(part)
		for _, event := range events {
			if m, ok := event.(*provider.Message); ok {
				text, _ := m.Content.(provider.Text)
				fmt.Println(part.NetworkID, m.From.Name, m.Chat.ChatID, text.Text)
			}
		}
	}
	// Output: 700100200300 Ana 16505551234 Hello
}
