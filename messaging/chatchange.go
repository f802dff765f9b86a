package messaging

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// limits of what users may keep with a chat
const (
	maxTags       = 100
	maxTag        = 100
	tagLength     = "must have 1 to 100 characters"
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

// cleanTag returns a tag as it is kept, and whether it may be one.
func cleanTag(tag string) (clean string, ok bool) {
	clean = strings.TrimSpace(text.Sanitize(tag))
	return clean, clean != "" && utf8.RuneCountInString(clean) <= maxTag
}

func setTags(c *store.Chat, tags []string) error {
	if len(tags) > maxTags {
		return &Invalid{Field: "tags", Message: fmt.Sprintf("must be at most %d", maxTags)}
	}
	out := []string{}
	for i, t := range tags {
		t, ok := cleanTag(t)
		if !ok {
			return &Invalid{Field: fmt.Sprintf("tags[%d]", i), Message: tagLength}
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
