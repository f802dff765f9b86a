package provider

import (
	"fmt"
	"time"
)

// The errors below are returned as pointers and found with errors.As. Code and
// Message are the network's own and shown to the user. Advice is what the user
// can do about the error, or "". They contain no secrets. An [Invalid] is found
// before the network is asked.

// RateLimited says that the network asks to slow down. Nothing was sent.
type RateLimited struct {
	After                 time.Duration // 0: not known
	Code, Message, Advice string
}

// WindowClosed says that free-form messages are not allowed until the contact
// writes again.
type WindowClosed struct{ Code, Message, Advice string }

// BadRecipient says that the address is malformed or cannot be reached.
type BadRecipient struct{ Code, Message, Advice string }

// AuthExpired says that the credentials are no longer valid.
type AuthExpired struct{ Code, Message, Advice string }

// Unsupported says that this kind of reference does not support the content or
// one of its fields.
type Unsupported struct{ What string }

// Rejected says that the network refused the message permanently.
type Rejected struct{ Code, Message, Advice string }

// Ambiguous says that the message may have been sent. It must not be sent again
// unless the network recognizes the repeat.
type Ambiguous struct{ Err error }

// Temporary says that the message was not sent and may be sent again.
type Temporary struct {
	Err   error
	After time.Duration // 0: the caller chooses
}

func (e *RateLimited) Error() string {
	return refusal("rate limited", Failure{e.Code, e.Message, e.Advice})
}

func (e *WindowClosed) Error() string {
	return refusal("window closed", Failure{e.Code, e.Message, e.Advice})
}

func (e *BadRecipient) Error() string {
	return refusal("bad recipient", Failure{e.Code, e.Message, e.Advice})
}

func (e *AuthExpired) Error() string {
	return refusal("credentials refused", Failure{e.Code, e.Message, e.Advice})
}

func (e *Unsupported) Error() string {
	return "provider: " + e.What + " is not supported by this kind of reference"
}

func (e *Rejected) Error() string {
	return refusal("rejected", Failure{e.Code, e.Message, e.Advice})
}

func (e *Ambiguous) Error() string { return fmt.Sprintf("provider: may have been sent: %v", e.Err) }
func (e *Temporary) Error() string { return fmt.Sprintf("provider: not sent: %v", e.Err) }

// Unwrap returns the error that made the outcome uncertain.
func (e *Ambiguous) Unwrap() error { return e.Err }

// Unwrap returns the error that prevented the send.
func (e *Temporary) Unwrap() error { return e.Err }

func refusal(what string, f Failure) string {
	s := "provider: " + what
	if f.Code != "" {
		s += " (" + f.Code + ")"
	}
	if text := f.Text(); text != "" {
		s += ": " + text
	}
	return s
}
