package messaging

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/callback"
)

// CallbackRefusal is why [CallbackHandler] refuses a request: the status of HTTP, the
// cause, and when the network may try again.
type CallbackRefusal = callback.Refusal

// CallbackOptions configures [CallbackHandler].
type CallbackOptions struct {
	// Client returns the address that a request comes from, such as the one that a
	// proxy of yours states. nil: the address of the connection.
	Client func(r *http.Request) netip.Addr
	// Refuse writes the answer to a request that is refused. nil: the status and a
	// text; what could not be stored is logged.
	Refuse func(w http.ResponseWriter, r *http.Request, why CallbackRefusal)
	// Now is the clock of the limits. nil: time.Now.
	Now func() time.Time
}

// CallbackHandler returns the handler of the address to which networks post: of
// the Cloud API and of Messenger for all references. It answers the handshake by which
// Meta verifies the address, and takes callbacks with [Service.Callback]: it answers
// 200 once all events of a body are stored. Bodies have at most 4 MiB. Addresses from
// which many bodies without a valid signature come are refused for a while. opts may be
// nil.
func CallbackHandler(svc *Service, opts *CallbackOptions) http.Handler {
	h := &callback.Handler{
		Router: svc.callbacks, Client: callback.Connection, Refuse: callback.RefuseText(svc.opts.Logger), Now: time.Now,
	}
	if opts == nil {
		return h
	}
	if opts.Client != nil {
		h.Client = opts.Client
	}
	if opts.Refuse != nil {
		h.Refuse = opts.Refuse
	}
	if opts.Now != nil {
		h.Now = opts.Now
	}
	return h
}
