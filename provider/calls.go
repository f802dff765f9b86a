package provider

import "context"

// CallRejecter is a Session that can reject a call of a contact while it rings.
type CallRejecter interface {
	// RejectCall rejects the call that a [*Call] reported with this id in the
	// chat of a person. It returns when the rejection is on its way: the network
	// may not confirm it. A call that does not ring any more is not an error.
	RejectCall(ctx context.Context, chat Address, callID string) error
}
