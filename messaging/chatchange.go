package messaging

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/payload"
)

// limits of what users may keep with a chat
const (
	maxTags       = 100
	maxTag        = 100
	maxChatObject = 64 << 10 // bytes of variables, and of fields
)

func (c *chatRow) change(ch ChatChange, nowUS int64) error {
	if ch.Name != nil {
		if len(*ch.Name) > 200 {
			return &Invalid{"name", "must have at most 200 characters"}
		}
		c.Label = sanitize(*ch.Name)
	}
	if ch.Language != nil {
		if len(*ch.Language) > 35 {
			return &Invalid{"language", "must be a language tag of at most 35 characters"}
		}
		c.Language = sanitize(*ch.Language)
	}
	if ch.OptedOut != nil {
		c.OptedOut, c.OptedUS = *ch.OptedOut, nowUS
	}
	if ch.BotActive != nil {
		c.BotActive = *ch.BotActive
	}
	if err := c.changeHands(ch, nowUS); err != nil {
		return err
	}
	if ch.ActiveBot != nil {
		c.ActiveBot = ch.ActiveBot.encode()
	}
	if ch.Tags != nil {
		if err := c.setTags(ch.Tags); err != nil {
			return err
		}
	}
	return errors.Join(
		changeObject("variables", &c.Variables, ch.Variables),
		changeObject("fields", &c.Fields, ch.Fields),
	)
}

func (c *chatRow) setTags(tags []string) error {
	if len(tags) > maxTags {
		return &Invalid{"tags", fmt.Sprintf("must be at most %d", maxTags)}
	}
	out := []string{}
	for i, t := range tags {
		t = strings.TrimSpace(sanitize(t))
		if t == "" || len(t) > maxTag {
			return &Invalid{fmt.Sprintf("tags[%d]", i), fmt.Sprintf("must have 1 to %d characters", maxTag)}
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
	merged := sanitize(mergeObjects(*stored, string(payload.MustEncode(change))))
	if len(merged) > maxChatObject {
		return &Invalid{field, "must take at most 64 KiB in total"}
	}
	*stored = merged
	return nil
}

// mergeTags joins two stored lists of tags.
func mergeTags(a, b string) string {
	var all, more []string
	_, _ = json.Unmarshal([]byte(a), &all), json.Unmarshal([]byte(b), &more) // written by this package
	for _, t := range more {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return string(payload.MustEncode(append([]string{}, all...)))
}

// mergeObjects lays the members of over upon those of base; null removes.
func mergeObjects(base, over string) string {
	out := object(base)
	for name, v := range object(over) {
		if string(v) == "null" {
			delete(out, name)
			continue
		}
		out[name] = v
	}
	return string(payload.MustEncode(out))
}

// object reads a stored JSON object.
func object(s string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	_ = json.Unmarshal([]byte(s), &out) // written by this package
	return out
}
