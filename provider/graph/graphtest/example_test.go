package graphtest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/provider/graph/graphtest"
)

// A program under test is pointed at the fake by its URL; what it does next is
// told beforehand.
func Example() {
	ctx := context.Background()
	fake := graphtest.Start(&graphtest.Options{Numbers: []graphtest.Number{{
		PhoneNumberID: "700100200300", BusinessAccountID: "800100200300", AccessToken: "token", AppSecret: "secret",
	}}})
	defer fake.Close()
	fake.Fail(graphtest.Fault{Code: 131056}) // the next send only

	client := graph.New(&graph.Options{URL: fake.URL}).As("token")
	body := map[string]any{"messaging_product": "whatsapp", "to": "16505551234", "type": "text", "text": map[string]string{"body": "Hello"}}
	for range 2 {
		err := graph.SendError(client.Post(ctx, "700100200300/messages", body, nil))
		_, slower := errors.AsType[*provider.RateLimited](err)
		fmt.Println(slower, len(fake.Shown("16505551234")))
	}
	// Output:
	// true 0
	// false 1
}
