package messenger_test

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
	"github.com/trunklinehq/trunkline/provider/messenger"
)

// A page can be used without package messaging; here its network is a fake.
func Example() {
	ctx := context.Background()
	network := graphtest.Start(&graphtest.Options{Pages: []graphtest.Page{{ID: "555100000000009", AccessToken: "token"}}})
	defer network.Close()

	pages := messenger.New(&messenger.Options{GraphURL: network.URL})
	session, err := pages.Open(ctx, provider.Reference{ID: 1, Settings: provider.Settings{
		"pageId": "555100000000009", "accessToken": "token", "appSecret": "secret", "verifyToken": "word",
	}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = session.Close(ctx) }()

	to, err := pages.Address("5552000000000009@messenger")
	if err != nil {
		fmt.Println(err)
		return
	}
	question := provider.Buttons{Text: "Shall we send it?", Buttons: []provider.Choice{{ID: "yes", Title: "Yes"}, {ID: "no", Title: "No"}}}
	receipt, err := session.Send(ctx, provider.Outbound{ID: "order-7", To: to, Content: question})
	fmt.Println(receipt.MessageID != "", err)
	for _, m := range network.Shown(to.PSID) {
		fmt.Println(m.To, m.Text, m.CallbackData)
	}
	// Output:
	// true <nil>
	// 5552000000000009 Shall we send it? order-7
}
