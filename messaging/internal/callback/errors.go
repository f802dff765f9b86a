package callback

import (
	"errors"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

// Errors of [Router.Receive].
var (
	// ErrNotCallback reports a body that is no JSON object.
	ErrNotCallback = errors.New("messaging: a callback's body must be a JSON object")
	// ErrUnverified reports that no reference with the ids of a callback has
	// the secret that signed it.
	ErrUnverified = apierr.New("messaging", apierr.Unauthorized, "the signature is not valid for any reference that this callback is for: check the app secret")
	// ErrUnproved reports that no account could show yet that its token may read
	// the id of a callback: several claim it with the right secret, or the secret
	// is the one for all references.
	ErrUnproved = apierr.New("messaging", apierr.Unavailable, "no reference with this id has proved yet that its access token may read it: try again later")
)
