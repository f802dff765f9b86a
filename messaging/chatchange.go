package messaging

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// limits of what users may keep with a chat
const (
	maxTags       = 100
	maxTag        = 100
	maxChatObject = 64 << 10 // bytes of variables, and of fields
)

func applyChange(c *store.Chat, ch ChatChange, nowUS int64) error {
	if ch.Name != nil {
		if len(*ch.Name) > 200 {
			return &Invalid{Field: "name", Message: "must have at most 200 characters"}
		}
		c.Label = text.Sanitize(*ch.Name)
	}
	if ch.Language != nil {
		if len(*ch.Language) > 35 {
			return &Invalid{Field: "language", Message: "must be a language tag of at most 35 characters"}
		}
		c.Language = text.Sanitize(*ch.Language)
	}
	if ch.OptedOut != nil {
		c.OptedOut, c.OptedUS = *ch.OptedOut, nowUS
	}
	if ch.BotActive != nil {
		c.BotActive = *ch.BotActive
	}
	if err := changeHands(c, ch, nowUS); err != nil {
		return err
	}
	if ch.ActiveBot != nil {
		c.ActiveBot = ch.ActiveBot.encode()
	}
	if ch.Tags != nil {
		if err := setTags(c, ch.Tags); err != nil {
			return err
		}
	}
	return errors.Join(
		changeObject("variables", &c.Variables, ch.Variables),
		changeObject("fields", &c.Fields, ch.Fields),
	)
}

func setTags(c *store.Chat, tags []string) error {
	if len(tags) > maxTags {
		return &Invalid{Field: "tags", Message: fmt.Sprintf("must be at most %d", maxTags)}
	}
	out := []string{}
	for i, t := range tags {
		t = strings.TrimSpace(text.Sanitize(t))
		if t == "" || len(t) > maxTag {
			return &Invalid{Field: fmt.Sprintf("tags[%d]", i), Message: fmt.Sprintf("must have 1 to %d characters", maxTag)}
		}
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	c.Tags = string(payload.MustEncode(out))
	return nil
}

// changeObject merges members into a stored object; null removes one.
func changeObject(field string, stored *string, change map[string]json.RawMessage) error {
	if len(change) == 0 {
		return nil
	}
	merged := text.Sanitize(store.MergeObjects(*stored, string(payload.MustEncode(change))))
	if len(merged) > maxChatObject {
		return &Invalid{Field: field, Message: "must take at most 64 KiB in total"}
	}
	*stored = merged
	return nil
}
