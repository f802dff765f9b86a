package provider

import (
	"fmt"
	"time"
)

// The errors below are returned as pointers and found with errors.As. Code
// and Message are the network's own, for the user, with advice in brackets
// where the provider has some; they hold no secret. What is found wrong before
// the network is asked is an [Invalid].

// RateLimited says that the network wants us to slow down; nothing was sent.
type RateLimited struct {
	After         time.Duration // 0: not said
	Code, Message string
}

// WindowClosed says that free-form messages are over until the contact writes.
type WindowClosed struct{ Code, Message string }

// BadRecipient says that the address cannot be reached, or is malformed.
type BadRecipient struct{ Code, Message string }

// AuthExpired says that the credentials no longer work.
type AuthExpired struct{ Code, Message string }

// Unsupported says that this kind of line lacks the content or one of its
// members.
type Unsupported struct{ What string }

// Rejected says that the network refused the message for good.
type Rejected struct{ Code, Message string }

// Ambiguous says that the message may have been sent: it must not be repeated
// without a way to recognise the repeat.
type Ambiguous struct{ Err error }

// Temporary says that the message was certainly not sent and may be repeated.
type Temporary struct {
	Err   error
	After time.Duration // 0: the caller's choice
}

func (e *RateLimited) Error() string  { return refusal("rate limited", e.Code, e.Message) }
func (e *WindowClosed) Error() string { return refusal("window closed", e.Code, e.Message) }
func (e *BadRecipient) Error() string { return refusal("bad recipient", e.Code, e.Message) }
func (e *AuthExpired) Error() string  { return refusal("credentials refused", e.Code, e.Message) }
func (e *Unsupported) Error() string {
	return "provider: " + e.What + " is not supported by this kind of line"
}
func (e *Rejected) Error() string  { return refusal("rejected", e.Code, e.Message) }
func (e *Ambiguous) Error() string { return fmt.Sprintf("provider: may have been sent: %v", e.Err) }
func (e *Temporary) Error() string { return fmt.Sprintf("provider: not sent: %v", e.Err) }

// Unwrap returns what made the outcome uncertain.
func (e *Ambiguous) Unwrap() error { return e.Err }

// Unwrap returns what kept the message from being sent.
func (e *Temporary) Unwrap() error { return e.Err }

func refusal(what, code, message string) string {
	s := "provider: " + what
	if code != "" {
		s += " (" + code + ")"
	}
	if message != "" {
		s += ": " + message
	}
	return s
}
