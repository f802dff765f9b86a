package provider_test

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// What a send's error says is found with errors.As.
func Example() {
	send := func() error { return &provider.RateLimited{After: 4 * time.Second, Code: "131056"} }
	var limited *provider.RateLimited
	if err := send(); errors.As(err, &limited) {
		fmt.Println("again in", limited.After)
	}

	ana := provider.Address{ChatID: "16505551234", Phone: "16505551234"}
	fmt.Println(ana.RemoteJID())
	fmt.Println(max(provider.StatusDelivered, provider.StatusSending))
	// Output:
	// again in 4s
	// 16505551234::single
	// DELIVERED
}

func ExampleChallenge() {
	query, _ := url.ParseQuery("hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=word")
	text, ok := provider.Challenge(query, func(token string) bool { return token == "word" })
	fmt.Println(text, ok)
	// Output: 1158201444 true
}
