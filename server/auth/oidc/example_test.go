package oidc_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/server/auth/oidc"
)

// A provider that is down keeps nobody from starting.
func Example() {
	p := oidc.New(oidc.Config{Issuer: "http://127.0.0.1:1", ClientID: "trunkline", RedirectURL: "http://localhost:3000/user/oidc/callback"})
	_, _, err := p.Begin(context.Background())
	fmt.Println(errors.Is(err, oidc.ErrUnavailable))
	// Output: true
}
