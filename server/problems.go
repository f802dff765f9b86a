package server

import (
	"errors"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/webhook"
)

// messagingProblem translates the errors of package messaging.
func messagingProblem(err error) *Problem {
	var bad *messaging.Invalid
	var refused *messaging.Error
	switch {
	case errors.As(err, &bad):
		if bad.Field == "Idempotency-Key" {
			return invalid("header."+bad.Field, bad.Message)
		}
		return invalid("body."+bad.Field, bad.Message)
	case errors.As(err, &refused):
		return refusedProblem(refused)
	case errors.Is(err, messaging.ErrNotFound):
		return problem(codeNotFound, "there is no such reference, chat or message")
	case errors.Is(err, messaging.ErrUnverified):
		return problem(codeUnauthorized, "the signature fits no reference that this callback is for")
	case errors.Is(err, messaging.ErrUnproved):
		return problem(codeUnavailable, "several accounts claim this line and none has proved it yet")
	}
	return nil
}

func refusedProblem(e *messaging.Error) *Problem {
	detail := e.Message
	if e.ProviderCode != "" && e.ProviderCode != e.Code {
		detail = "code " + e.ProviderCode + ": " + detail
	}
	if e.MessageID != "" {
		detail += " The message was kept as " + e.MessageID + "."
	}
	p := problem(e.Code, detail)
	if e.After > 0 {
		p.retryAfter(e.After)
	}
	return p
}

// webhookProblem translates the errors of package webhook.
func webhookProblem(err error) *Problem {
	var bad *webhook.Invalid
	switch {
	case errors.As(err, &bad):
		if bad.Field == "url" {
			return invalid("body.webhook", bad.Message)
		}
		return invalid("body."+bad.Field, bad.Message)
	case errors.Is(err, webhook.ErrNotFound):
		return problem(codeNotFound, "there is no such webhook")
	}
	return nil
}

// inQuery says that what err names stands in the query.
func inQuery(err error) error {
	var bad *messaging.Invalid
	if errors.As(err, &bad) {
		return invalid("query."+bad.Field, bad.Message)
	}
	return err
}
