package messaging

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/provider"
)

// ContentTypes lists the types that [DecodeContent] reads.
func ContentTypes() []string { return render.ContentTypes() }

// DecodeContent reads a `message` as the API takes it: an object with its
// type and the members of that type, and a tag, which is for [DecodeTag]. It
// returns an [*Invalid] that names what is wrong.
func DecodeContent(raw json.RawMessage) (provider.Content, error) { return render.DecodeContent(raw) }

// DecodeTag reads the tag of a `message`: [SendRequest.Tag].
func DecodeTag(raw json.RawMessage) (string, error) { return render.DecodeTag(raw) }

// IncomingTypes lists the types that [DecodeIncoming] reads.
func IncomingTypes() []string { return render.IncomingTypes() }

// DecodeIncoming reads what a simulated contact writes, in the form that
// [DecodeContent] takes.
func DecodeIncoming(raw json.RawMessage) (provider.Content, error) { return render.DecodeIncoming(raw) }
