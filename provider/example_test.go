package provider_test

import (
	"errors"
	"fmt"
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
