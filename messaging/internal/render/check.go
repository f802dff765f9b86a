package render

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Limits that hold on every kind of reference; networks have closer ones.
const (
	maxMentions    = 1024
	maxPollOptions = 12
	maxCards       = 257
)

func checkText(v provider.Text) error {
	if len(v.Mentions) > maxMentions {
		return &payload.Invalid{Field: "message.mentions", Message: fmt.Sprintf("must be at most %d", maxMentions)}
	}
	for i, m := range v.Mentions {
		if m == "" || len(m) > MaxTextLength {
			return &payload.Invalid{Field: Indexed("message.mentions", i), Message: "must be a chat id"}
		}
	}
	return required("text", v.Text)
}

// checkQuestion is for contents with answers to choose from, and votes.
func checkQuestion(c provider.Content) error {
	switch v := c.(type) {
	case provider.Buttons:
		if err := required("text", v.Text); err != nil {
			return err
		}
		if len(v.Buttons) < 1 || len(v.Buttons) > 3 {
			return &payload.Invalid{Field: "message.buttons", Message: "must have 1 to 3 buttons"}
		}
		return checkChoices("message.buttons", v.Buttons)
	case provider.List:
		return checkList(v)
	case provider.Poll:
		return checkPoll(v)
	case provider.Vote:
		return checkVote(v)
	}
	return nil
}

func checkTemplate(v provider.Template) error {
	if policy := v.Template.Language.Policy; policy != "" && policy != "deterministic" {
		return &payload.Invalid{Field: "message.template.language.policy", Message: "must be deterministic"}
	}
	for i, c := range v.Template.Components {
		if !json.Valid(c) {
			return &payload.Invalid{Field: Indexed("message.template.components", i), Message: "must be JSON"}
		}
	}
	return errors.Join(required("template.name", v.Template.Name), required("template.language.code", v.Template.Language.Code))
}

func checkPoll(v provider.Poll) error {
	if err := required("question", v.Question); err != nil {
		return err
	}
	if len(v.Options) < 2 || len(v.Options) > maxPollOptions {
		return &payload.Invalid{Field: "message.options", Message: fmt.Sprintf("must have 2 to %d", maxPollOptions)}
	}
	return checkOptions(v.Options)
}

func checkOptions(options []string) error {
	seen := map[string]bool{}
	for i, o := range options {
		if err := required(Indexed("options", i), o); err != nil {
			return err
		}
		if seen[o] {
			return &payload.Invalid{Field: Indexed("message.options", i), Message: "is given twice"}
		}
		seen[o] = true
	}
	return nil
}

func checkVote(v provider.Vote) error {
	if err := required("messageId", v.MessageID); err != nil {
		return err
	}
	if v.Options == nil {
		return &payload.Invalid{Field: "message.options", Message: "is required"}
	}
	if len(v.Options) > maxPollOptions {
		return &payload.Invalid{Field: "message.options", Message: fmt.Sprintf("must be at most %d", maxPollOptions)}
	}
	return checkOptions(v.Options)
}

func checkCards(v provider.Contacts) error {
	if len(v.Contacts) < 1 || len(v.Contacts) > maxCards {
		return &payload.Invalid{Field: "message.contacts", Message: fmt.Sprintf("must have 1 to %d", maxCards)}
	}
	for i, c := range v.Contacts {
		if err := required(Indexed("contacts", i)+".name.formattedName", c.Name.Formatted); err != nil {
			return err
		}
	}
	return nil
}

func checkList(v provider.List) error {
	if err := errors.Join(required("text", v.Text), required("button", v.Button)); err != nil {
		return err
	}
	rows := 0
	for i, s := range v.Sections {
		if err := checkChoices(fmt.Sprintf("message.sections[%d].rows", i), s.Rows); err != nil {
			return err
		}
		rows += len(s.Rows)
	}
	if rows < 1 || rows > 10 {
		return &payload.Invalid{Field: "message.sections", Message: "must have 1 to 10 rows in total"}
	}
	return nil
}

func checkChoices(field string, cs []provider.Choice) error {
	seen := map[string]bool{}
	for i, c := range cs {
		switch {
		case c.ID == "":
			return &payload.Invalid{Field: fmt.Sprintf("%s[%d].id", field, i), Message: "must not be empty"}
		case c.Title == "":
			return &payload.Invalid{Field: fmt.Sprintf("%s[%d].title", field, i), Message: "must not be empty"}
		case seen[c.ID]:
			return &payload.Invalid{Field: fmt.Sprintf("%s[%d].id", field, i), Message: "is given twice"}
		}
		seen[c.ID] = true
	}
	return nil
}

// MaxTextLength is the most bytes of an id that a network may give: indexes have
// limits, and no network comes near it.
const MaxTextLength = 512
