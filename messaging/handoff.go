package messaging

import (
	"encoding/json"
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// TakeOver is how long bots make way for a person who has written in a chat
// without taking it over for good.
const TakeOver = 30 * time.Minute

// Handoff says that a person has taken a chat over, or that a bot has asked for
// one. Who takes it by [ChatChange], or answers what a bot asked, has it until
// it is given back; who only writes in it, for [TakeOver].
type Handoff struct {
	Since  UnixTime  `json:"since"`
	Taken  bool      `json:"taken" doc:"true: a person has taken over the chat; false: the bot has asked for a person."`
	Until  *UnixTime `json:"until" doc:"Time at which bots may answer again; null: when the person gives the chat back."`
	Target string    `json:"target" doc:"The person or team that the bot asked for."`
	Note   string    `json:"note" doc:"Note of the bot for that person."`

	pause bool
}

// HandoffAsk is how a bot asks for a person.
type HandoffAsk struct {
	Target string `json:"target"` // whom, in words
	Note   string `json:"note"`
	Pause  bool   `json:"pause"` // no bot answers until a person comes, or until it is taken back
}

// ActiveBot is the bot, or the flow, that has a conversation in a chat.
type ActiveBot struct {
	Engine string `json:"engine"`
	ID     string `json:"id"`
}

func (b ActiveBot) encode() string {
	if b == (ActiveBot{}) {
		return ""
	}
	return string(payload.MustEncode(b))
}

func activeBot(c *store.Chat) *ActiveBot {
	if c.ActiveBot == "" {
		return nil
	}
	var b ActiveBot
	_ = json.Unmarshal([]byte(c.ActiveBot), &b) // written by this package
	return &b
}

// Silent says that no bot is to answer at a time.
func (h *Handoff) Silent(now time.Time) bool {
	switch {
	case h == nil:
		return false
	case !h.Taken:
		return h.pause
	}
	return h.Until == nil || now.Before(h.Until.Time)
}

func handoff(c *store.Chat) *Handoff {
	if !c.Handling().Handed() {
		return nil
	}
	var ask HandoffAsk
	if c.AskedUS != 0 {
		_ = json.Unmarshal([]byte(c.Asked), &ask) // written by this package
	}
	h := &Handoff{Since: payload.TimeOf(c.AskedUS), Target: ask.Target, Note: ask.Note, pause: ask.Pause}
	if c.HandoffUS != 0 {
		h.Since, h.Taken = payload.TimeOf(c.HandoffUS), true
		if !c.Taken {
			h.Until = &UnixTime{Time: h.Since.Add(TakeOver)}
		}
	}
	return h
}

// changeHands does what a change says of who answers.
func changeHands(c *store.Chat, ch ChatChange, nowUS int64) error {
	switch ch.Handoff {
	case "":
	case "take":
		c.TakeOver(nowUS)
	case "close":
		c.GiveBack()
	default:
		return &Invalid{Field: "handoff", Message: "must be take or close"}
	}
	switch {
	case ch.Ask != nil:
		c.AskedUS, c.Asked = nowUS, string(payload.MustEncode(ch.Ask))
	case ch.EndAsk && c.HandoffUS == 0: // else a person has come
		c.AskedUS, c.Asked = 0, ""
	}
	return nil
}
