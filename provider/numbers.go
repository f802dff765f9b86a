package provider

import "context"

// NumberChecker is a Session that can ask its network whether a person has an
// account there.
type NumberChecker interface {
	// CheckNumber asks for the person of an address that [Provider.Address]
	// made of a phone number.
	CheckNumber(ctx context.Context, who Address) (NumberCheck, error)
}

// NumberCheck is what a network says of a phone number.
type NumberCheck struct {
	Exists *bool   // nil: it does not say
	Chat   Address // what the network calls the person; zero: as it was asked
}
