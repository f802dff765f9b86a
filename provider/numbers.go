package provider

import "context"

// NumberChecker is a Session that can ask its network whether a phone number
// has an account.
type NumberChecker interface {
	// CheckNumber looks up an address that [Provider.Address] made of a phone
	// number.
	CheckNumber(ctx context.Context, who Address) (NumberCheck, error)
}

// NumberCheck is what a network knows of a phone number.
type NumberCheck struct {
	Exists *bool   // nil: not known
	Chat   Address // the address of the person; zero: the one that was asked for
}
