package intent_test

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/extractor/intent"
)

func ExampleTrain() {
	m, err := intent.Train(context.Background(), []intent.Intent{
		{Name: "refund", Examples: []string{"I want my money back", "please refund me", "can I get a refund?"}},
		{Name: "delivery", Examples: []string{"where is my parcel", "when does my order arrive", "track my package"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	best, ok := m.Classify("wher is my package?", 0.5)
	fmt.Println(best.Name, ok)
	// Output: delivery true
}
