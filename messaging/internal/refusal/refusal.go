package refusal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// ErrNotHere reports a reference that is a connection which this node does not have.
var ErrNotHere = errors.New("messaging: the line is not connected here")

// maxRetryDelay is the longest pause between two attempts.
const maxRetryDelay = 5 * time.Minute

// Certain reports whether err says for sure that nothing was sent.
func Certain(err error) bool {
	var window *provider.WindowClosed
	var recipient *provider.BadRecipient
	var auth *provider.AuthExpired
	var unsupported *provider.Unsupported
	var invalid *provider.Invalid
	var rejected *provider.Rejected
	return errors.As(err, &invalid) || errors.As(err, &window) || errors.As(err, &recipient) || errors.As(err, &auth) ||
		errors.As(err, &unsupported) || errors.As(err, &rejected)
}

// Retryable reports whether err says for sure that nothing was sent, for now,
// and the pause that the network asked for. One that limits without a word
// on how long gets 4^n seconds, which is what Meta advises.
func Retryable(err error, attempts int) (time.Duration, bool) {
	var limited *provider.RateLimited
	var temporary *provider.Temporary
	switch {
	case errors.As(err, &limited):
		return cmp.Or(limited.After, min(maxRetryDelay, time.Second<<min(2*attempts, 16))), true
	case errors.As(err, &temporary):
		return temporary.After, true
	}
	return 0, false
}

// Failure is what a message record says of a provider's error.
func Failure(err error) *provider.Failure {
	var limited *provider.RateLimited
	var window *provider.WindowClosed
	var recipient *provider.BadRecipient
	var auth *provider.AuthExpired
	var unsupported *provider.Unsupported
	var invalid *provider.Invalid
	var rejected *provider.Rejected
	switch {
	case errors.As(err, &invalid):
		return &provider.Failure{Code: payload.CodeUnsupported, Message: invalid.Field + " " + invalid.Message + "."}
	case errors.As(err, &limited):
		return &provider.Failure{Code: cmp.Or(limited.Code, "rate_limited"), Message: limited.Message, Advice: limited.Advice}
	case errors.As(err, &window):
		return &provider.Failure{Code: payload.CodeWindowClosed, Message: window.Message, Advice: window.Advice}
	case errors.As(err, &recipient):
		return &provider.Failure{Code: cmp.Or(recipient.Code, "recipient"), Message: recipient.Message, Advice: recipient.Advice}
	case errors.As(err, &auth):
		return &provider.Failure{Code: cmp.Or(auth.Code, "credentials"), Message: auth.Message, Advice: auth.Advice}
	case errors.As(err, &unsupported):
		return &provider.Failure{Code: payload.CodeUnsupported, Message: "The reference cannot send " + unsupported.What + "."}
	case errors.As(err, &rejected):
		return &provider.Failure{Code: cmp.Or(rejected.Code, "rejected"), Message: rejected.Message, Advice: rejected.Advice}
	}
	return &provider.Failure{Code: "not_sent", Message: "The network could not be reached."}
}

// BrokenRules are the rules of a network that a request breaks, as an
// [*Invalid] each, joined; nil when err is no [*provider.Invalid].
func BrokenRules(err error) error {
	var joined interface{ Unwrap() []error }
	var one *provider.Invalid
	switch {
	case errors.As(err, &joined):
		var out []error
		for _, e := range joined.Unwrap() {
			if broken := BrokenRules(e); broken != nil {
				out = append(out, broken)
			}
		}
		return errors.Join(out...)
	case errors.As(err, &one):
		return &payload.Invalid{Field: one.Field, Message: one.Message}
	}
	return nil
}

// OfNetwork is the refusal of a call that was no send.
func OfNetwork(err error) *payload.Error {
	if missing, ok := errors.AsType[*provider.Unsupported](err); ok {
		return &payload.Error{Code: payload.CodeUnsupported, Message: "The reference does not support " + missing.What + "."}
	}
	f := Failure(err)
	out := &payload.Error{Code: payload.CodeProvider, Message: f.Text(), ProviderCode: f.Code}
	var limited *provider.RateLimited
	var spoken interface{ Text() string } // the network's own words in a passing error
	switch {
	case errors.As(err, &limited):
		out.After = limited.After
	case f.Code == "not_sent":
		out.ProviderCode = ""
		if errors.As(err, &spoken) && spoken.Text() != "" {
			out.Message = spoken.Text()
		}
	}
	return out
}

// OfCall is the error of a call to the network that is no send.
func OfCall(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if own, ok := errors.AsType[*payload.Error](err); ok {
		return own
	}
	out := OfNetwork(err)
	var limited *provider.RateLimited
	var unsupported *provider.Unsupported
	switch {
	case errors.As(err, &limited):
		out.Code = payload.CodeRateLimited
	case errors.As(err, &unsupported):
		return &payload.Error{Code: payload.CodeUnsupported, Message: "The reference does not support " + unsupported.What + "."}
	}
	return out
}

// CheckUsable refuses what needs a session while there is none.
func CheckUsable(r *store.Reference) error {
	switch r.State {
	case payload.StateLoggedOut, payload.StateFailed, payload.StateStopped:
		return &payload.Error{Code: payload.CodeSessionNotConnected, Message: "The session of this reference is " + string(r.State) + ": start it first."}
	}
	return nil
}

// Text is what a user may read of a provider's error.
func Text(err error) string {
	f := Failure(err)
	if f.Text() == "" {
		return "The network could not be reached."
	}
	return text.Sanitize(f.Text())
}

// SessionCode is the session error code of what a provider said.
func SessionCode(err error) string {
	var auth *provider.AuthExpired
	var rejected *provider.Rejected
	var recipient *provider.BadRecipient
	switch {
	case errors.As(err, &auth), errors.As(err, &rejected), errors.As(err, &recipient):
		return "credentials"
	}
	return "network"
}

// RetryDelay is how long to wait before the next attempt: what the network asked
// for, else 1 s doubling to five minutes, ±20 %.
func RetryDelay(attempts int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	d := min(maxRetryDelay, time.Second<<min(attempts, 16))
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())) //nolint:gosec // a pause is not a secret
}

// Recovered runs the code of a provider. A panic becomes an error.
func Recovered(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return fn()
}
