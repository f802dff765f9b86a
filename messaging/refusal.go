package messaging

import (
	"cmp"
	"errors"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// certain reports whether err says for sure that nothing was sent.
func certain(err error) bool {
	var window *provider.WindowClosed
	var recipient *provider.BadRecipient
	var auth *provider.AuthExpired
	var unsupported *provider.Unsupported
	var invalid *provider.Invalid
	var rejected *provider.Rejected
	return errors.As(err, &invalid) || errors.As(err, &window) || errors.As(err, &recipient) || errors.As(err, &auth) ||
		errors.As(err, &unsupported) || errors.As(err, &rejected)
}

// retryable reports whether err says for sure that nothing was sent, for now,
// and the pause that the network asked for. One that limits without a word
// on how long gets 4^n seconds, which is what Meta advises.
func retryable(err error, attempts int) (time.Duration, bool) {
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

// failure is what a message record says of a provider's error.
func failure(err error) *provider.Failure {
	var limited *provider.RateLimited
	var window *provider.WindowClosed
	var recipient *provider.BadRecipient
	var auth *provider.AuthExpired
	var unsupported *provider.Unsupported
	var invalid *provider.Invalid
	var rejected *provider.Rejected
	switch {
	case errors.As(err, &invalid):
		return &provider.Failure{Code: CodeUnsupported, Message: invalid.Field + " " + invalid.Message + "."}
	case errors.As(err, &limited):
		return &provider.Failure{Code: cmp.Or(limited.Code, "rate_limited"), Message: limited.Message, Advice: limited.Advice}
	case errors.As(err, &window):
		return &provider.Failure{Code: CodeWindowClosed, Message: window.Message, Advice: window.Advice}
	case errors.As(err, &recipient):
		return &provider.Failure{Code: cmp.Or(recipient.Code, "recipient"), Message: recipient.Message, Advice: recipient.Advice}
	case errors.As(err, &auth):
		return &provider.Failure{Code: cmp.Or(auth.Code, "credentials"), Message: auth.Message, Advice: auth.Advice}
	case errors.As(err, &unsupported):
		return &provider.Failure{Code: CodeUnsupported, Message: "The line cannot send " + unsupported.What + "."}
	case errors.As(err, &rejected):
		return &provider.Failure{Code: cmp.Or(rejected.Code, "rejected"), Message: rejected.Message, Advice: rejected.Advice}
	}
	return &provider.Failure{Code: "not_sent", Message: "The network could not be reached."}
}

// brokenRules are the rules of a network that a request breaks, as an
// [*Invalid] each, joined; nil when err is no [*provider.Invalid].
func brokenRules(err error) error {
	var joined interface{ Unwrap() []error }
	var one *provider.Invalid
	switch {
	case errors.As(err, &joined):
		var out []error
		for _, e := range joined.Unwrap() {
			if broken := brokenRules(e); broken != nil {
				out = append(out, broken)
			}
		}
		return errors.Join(out...)
	case errors.As(err, &one):
		return &Invalid{Field: one.Field, Message: one.Message}
	}
	return nil
}
