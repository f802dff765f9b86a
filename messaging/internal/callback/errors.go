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
	ErrUnverified = apierr.New("messaging", apierr.Unauthorized, "the signature fits no reference that this callback is for")
	// ErrUnproved reports that no account could show yet that its token may read
	// the id of a callback: several claim it with the right secret, or the secret
	// is the one for all references.
	ErrUnproved = apierr.New("messaging", apierr.Unavailable, "no access token has shown yet that it may read the id of this callback")
)
