package provider

import (
	"fmt"
	"time"
)

// The errors below are returned as pointers and found with errors.As. Code
// and Message are the network's own, for the user; Advice is what the user can
// do about it, or "". They hold no secret. What is found wrong before the
// network is asked is an [Invalid].

// RateLimited says that the network wants us to slow down; nothing was sent.
type RateLimited struct {
	After                 time.Duration // 0: not said
	Code, Message, Advice string
}

// WindowClosed says that free-form messages are over until the contact writes.
type WindowClosed struct{ Code, Message, Advice string }

// BadRecipient says that the address cannot be reached, or is malformed.
type BadRecipient struct{ Code, Message, Advice string }

// AuthExpired says that the credentials no longer work.
type AuthExpired struct{ Code, Message, Advice string }

// Unsupported says that this kind of reference lacks the content or one of its
// members.
type Unsupported struct{ What string }

// Rejected says that the network refused the message for good.
type Rejected struct{ Code, Message, Advice string }

// Ambiguous says that the message may have been sent: it must not be repeated
// without a way to recognise the repeat.
type Ambiguous struct{ Err error }

// Temporary says that the message was certainly not sent and may be repeated.
type Temporary struct {
	Err   error
	After time.Duration // 0: the caller's choice
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
	return "provider: " + e.What + " is not supported by this kind of line"
}

func (e *Rejected) Error() string {
	return refusal("rejected", Failure{e.Code, e.Message, e.Advice})
}

func (e *Ambiguous) Error() string { return fmt.Sprintf("provider: may have been sent: %v", e.Err) }
func (e *Temporary) Error() string { return fmt.Sprintf("provider: not sent: %v", e.Err) }

// Unwrap returns what made the outcome uncertain.
func (e *Ambiguous) Unwrap() error { return e.Err }

// Unwrap returns what kept the message from being sent.
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
