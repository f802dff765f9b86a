package messenger

import "github.com/trunklinehq/trunkline/provider"

// Meta's limits, in characters unless noted.
// https://developers.facebook.com/docs/messenger-platform/reference/send-api
const (
	maxText         = 2000
	maxQuickReplies = 13
	maxTitle        = 20 // of a quick reply or a button
	maxPayload      = 1000
	maxMetadata     = 999
	maxElements     = 10 // of a generic template
	maxElementTitle = 80
	maxSubtitle     = 80
	maxButtons      = 3
	maxButtonText   = 640 // of a button template
)

// mediaLimits are the maximum sizes of files in bytes, by kind.
// https://developers.facebook.com/docs/messenger-platform/reference/attachment-upload-api
var mediaLimits = map[provider.MediaKind]int64{
	provider.Image:    8 << 20,
	provider.Video:    25 << 20,
	provider.Audio:    25 << 20,
	provider.Document: 25 << 20,
}
