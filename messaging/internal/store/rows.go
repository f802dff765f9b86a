package store

import (
	"strings"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Chat is a chat as its table has it.
type Chat struct {
	ID          int64                `db:"id"`
	Reference   provider.ReferenceID `db:"reference"`
	ChatID      string               `db:"chat_id"`
	IsGroup     bool                 `db:"is_group"`
	Phone       string               `db:"phone"`
	UserID      string               `db:"user_id"`
	PSID        string               `db:"psid"`
	LID         string               `db:"lid"`
	Label       string               `db:"label"` // the name that users gave it
	Title       string               `db:"title"` // Of the group, or the contact's name in the phone book of the account's phone
	TitleUS     int64                `db:"title_us"`
	Name        string               `db:"name"` // the name that the contact chose
	BizName     string               `db:"biz_name"`
	Username    string               `db:"username"`
	NameUS      int64                `db:"name_us"`
	MovedUS     int64                `db:"moved_us"`
	Unread      int64                `db:"unread"`
	BotActive   bool                 `db:"bot_active"`
	Variables   string               `db:"variables"`
	Tags        string               `db:"tags"`
	Fields      string               `db:"fields"`
	Language    string               `db:"language"`
	OptedOut    bool                 `db:"opted_out"`
	OptedUS     int64                `db:"opted_us"`
	HandoffUS   int64                `db:"handoff_us"`
	Taken       bool                 `db:"taken"`
	AskedUS     int64                `db:"asked_us"`
	Asked       string               `db:"asked"`      // JSON of a [HandoffAsk], or ""
	ActiveBot   string               `db:"active_bot"` // JSON of an [ActiveBot], or ""
	LastMessage int64                `db:"last_message"`
	ActivityUS  int64                `db:"activity_us"`
	Choices     string               `db:"choices"`    // JSON of the open question, an [asked], or ""
	Marks       string               `db:"watermarks"` // JSON of its [Watermarks], or ""
	WindowUS    int64                `db:"window_us"`
	CreatedUS   int64                `db:"created_us"`
	UpdatedUS   int64                `db:"updated_us"`
	Deferring   bool                 `db:"deferring"` // events wait for a file
}

// ChatColumns are the columns of [Chat], of a table named c.
const ChatColumns = `c.id, c.reference, c.chat_id, c.is_group, c.phone, c.user_id, c.psid, c.lid, c.label, c.title, c.title_us, c.name, c.biz_name,
	c.username, c.name_us, c.moved_us, c.unread,
	c.bot_active, c.variables, c.tags, c.fields, c.language, c.opted_out, c.opted_us, c.handoff_us, c.last_message, c.activity_us,
	c.window_us, c.created_us, c.updated_us, c.taken, c.asked_us, c.asked, c.active_bot, c.deferring, c.choices, c.watermarks`

// Nested returns columns of a table for a field of a struct, as sqlx names those of
// a struct within a struct: of c.id, for the field "in", it makes c.id AS "in.id".
func Nested(columns, table, field string) string {
	out := strings.Split(columns, ",")
	for i, c := range out {
		name := strings.TrimPrefix(strings.TrimSpace(c), table+".")
		out[i] = table + "." + name + ` AS "` + field + "." + name + `"`
	}
	return strings.Join(out, ", ")
}

// Deleted says whether the chat is being deleted: see [Account.HideChat].
func (c *Chat) Deleted() bool { return c.ActivityUS < 0 }

// Message is a message as its table has it, with what messaging_outbound
// knows of an own one.
type Message struct {
	Seq          int64                `db:"seq"`
	Reference    provider.ReferenceID `db:"reference"`
	Chat         int64                `db:"chat"`
	ID           string               `db:"id"`
	Mine         bool                 `db:"mine"`
	Actor        payload.Actor        `db:"actor"`
	SentAs       string               `db:"sent_as"`
	Status       provider.Status      `db:"status"`
	Body         string               `db:"body"`
	PushName     string               `db:"push_name"`
	BizName      string               `db:"biz_name"`
	ErrorCode    string               `db:"error_code"`
	ErrorMessage string               `db:"error_message"`
	ErrorAdvice  string               `db:"error_advice"`
	AtUS         int64                `db:"at_us"`
	CreatedUS    int64                `db:"created_us"`
	Timeline     string               `db:"timeline"` // what became of it since; see [timelineEntry]
	PastUS       int64                `db:"past_us"`  // below 0: imported history, which is older than all else; see [pastUS]

	OwnID     string `db:"own_id"`     // "" for what we did not send
	RequestID string `db:"request_id"` // Of a further part of a send: the OwnID of the part that the answer named; else ""
	ClientID  string `db:"client_id"`  // what its sender calls it, or ""
	Announced bool   `db:"announced"`  // its message event is out; true for what we did not send
	Tried     bool   `db:"tried"`
	StartedUS int64  `db:"started_us"`
	GiveUpUS  int64  `db:"give_up_us"`
	SentUS    int64  `db:"sent_us"`

	stored *outboundState // what its row in messaging_outbound says; nil: not known
}

// outboundState is what changes of a row of messaging_outbound.
type outboundState struct {
	announced, tried            bool
	startedUS, giveUpUS, sentUS int64
}

func (m *Message) outbound() outboundState {
	return outboundState{m.Announced, m.Tried, m.StartedUS, m.GiveUpUS, m.SentUS}
}

// messageColumns and messageFrom select messageRows.
const (
	MessageColumns = `m.seq, m.reference, m.chat, m.id, m.mine, m.actor, m.sent_as, m.status, m.body, m.push_name, m.biz_name,
	m.error_code, m.error_message, m.error_advice, m.at_us, m.created_us, m.past_us, m.timeline,
	COALESCE(o.own_id, '') AS own_id, COALESCE(o.request_id, '') AS request_id, COALESCE(o.client_id, '') AS client_id, COALESCE(o.announced, TRUE) AS announced, COALESCE(o.tried, TRUE) AS tried,
	COALESCE(o.started_us, 0) AS started_us, COALESCE(o.give_up_us, 0) AS give_up_us,
	COALESCE(o.sent_us, 0) AS sent_us`
	MessageFrom = ` FROM messaging_message m LEFT JOIN messaging_outbound o ON o.message = m.seq `
)
