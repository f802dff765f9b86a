package compat

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// waha is WAHA: https://waha.devlike.pro/docs/how-to/events/
var waha = &Format{Name: "waha", types: allTypes, has: wahaHas, body: wahaBody, headers: wahaHeaders}

// wahaCalls are the events of calls. That one ended after it was accepted has no
// event; an unanswered call is told as rejected.
var wahaCalls = map[provider.CallStatus]string{
	provider.CallRinging: "call.received", provider.CallAccepted: "call.accepted",
	provider.CallRejected: "call.rejected", provider.CallMissed: "call.rejected",
}

func wahaHas(t *published) bool {
	return hasAny(t) && (t.call == nil || wahaCalls[t.call.Status] != "")
}

// wahaHeaders are the id and the time of a request, and its signature: the
// HMAC-SHA512 of the body in hexadecimal digits.
func wahaHeaders(s Signed) http.Header {
	h := http.Header{
		"X-Webhook-Request-Id": {s.ID},
		"X-Webhook-Timestamp":  {strconv.FormatInt(s.At.UnixMilli(), 10)},
	}
	if s.Key != nil {
		mac := hmac.New(sha512.New, s.Key)
		_, _ = mac.Write(s.Body) // never fails
		h["X-Webhook-Hmac"] = []string{hex.EncodeToString(mac.Sum(nil))}
		h["X-Webhook-Hmac-Algorithm"] = []string{"sha512"}
	}
	return h
}

// wahaWebhook is the envelope.
type wahaWebhook struct {
	ID          string            `json:"id"`
	Timestamp   int64             `json:"timestamp"` // ms
	Event       string            `json:"event"`
	Session     string            `json:"session"`
	Metadata    map[string]string `json:"metadata"`
	Me          *wahaMe           `json:"me"`
	Payload     any               `json:"payload"`
	Engine      string            `json:"engine"`
	Environment wahaEnvironment   `json:"environment"`
}

type wahaMe struct {
	ID       string `json:"id"`
	PushName string `json:"pushName"`
}

type wahaEnvironment struct {
	Version string `json:"version"`
	Engine  string `json:"engine"`
	Tier    string `json:"tier"`
}

// wahaEngine is the one of theirs that speaks to WhatsApp as we do.
const wahaEngine = "GOWS"

// wahaMessage is a message that came or was sent, or an edited one.
type wahaMessage struct {
	ID          string          `json:"id"`
	Timestamp   int64           `json:"timestamp"`
	From        string          `json:"from"`
	FromMe      bool            `json:"fromMe"`
	Source      string          `json:"source"`
	To          *string         `json:"to"`
	Participant *string         `json:"participant"`
	Body        string          `json:"body"`
	HasMedia    bool            `json:"hasMedia"`
	Media       *wahaMedia      `json:"media"`
	Ack         int             `json:"ack"`
	AckName     string          `json:"ackName"`
	Author      *string         `json:"author,omitempty"`
	Location    *wahaLocation   `json:"location,omitempty"`
	VCards      []string        `json:"vCards"`
	ReplyTo     *wahaReply      `json:"replyTo,omitempty"`
	Edited      string          `json:"editedMessageId,omitempty"`
	Data        json.RawMessage `json:"_data"` // our own payload
}

type wahaMedia struct {
	URL      *string `json:"url"`
	MimeType string  `json:"mimetype"`
	FileName *string `json:"filename"`
	Error    any     `json:"error"`
}

type wahaLocation struct {
	Description string `json:"description,omitempty"`
	Latitude    string `json:"latitude"`
	Longitude   string `json:"longitude"`
}

type wahaReply struct {
	ID string `json:"id"`
}

// wahaPlace names a message and who it went from and to.
type wahaPlace struct {
	ID          string  `json:"id"`
	From        string  `json:"from"`
	To          *string `json:"to"`
	Participant *string `json:"participant"`
	FromMe      bool    `json:"fromMe"`
}

type wahaAck struct {
	wahaPlace
	Ack     int    `json:"ack"`
	AckName string `json:"ackName"`
}

type wahaReaction struct {
	wahaPlace
	Timestamp int64          `json:"timestamp"`
	Reaction  wahaReactionTo `json:"reaction"`
}

type wahaReactionTo struct {
	Text      string `json:"text"`
	MessageID string `json:"messageId"`
}

type wahaRevoked struct {
	After   *wahaMessage `json:"after"`
	Revoked string       `json:"revokedMessageId"`
	Before  *wahaMessage `json:"before"`
}

type wahaVote struct {
	Vote struct {
		wahaPlace
		Selected  []string `json:"selectedOptions"`
		Timestamp int64    `json:"timestamp"`
	} `json:"vote"`
	Poll wahaPlace `json:"poll"`
}

type wahaCall struct {
	ID        string `json:"id"`
	From      string `json:"from"`
	Timestamp int64  `json:"timestamp"`
	IsVideo   bool   `json:"isVideo"`
	IsGroup   bool   `json:"isGroup"`
}

type wahaStatus struct {
	Name     string           `json:"name"`
	Status   string           `json:"status"`
	Statuses []wahaStatusOnce `json:"statuses"`
}

type wahaStatusOnce struct {
	Status    string `json:"status"`
	Timestamp int64  `json:"timestamp"` // ms
}

func wahaBody(t *published) any {
	event, payload := t.waha()
	w := wahaWebhook{
		ID: "evt_" + strings.ReplaceAll(t.ID, "-", ""), Timestamp: t.At.UnixMilli(), Event: event, Session: t.Reference.Name,
		Metadata: map[string]string{"reference": t.Reference.ID}, Payload: payload, Engine: wahaEngine,
		Environment: wahaEnvironment{Version: "trunkline", Engine: wahaEngine, Tier: "CORE"},
	}
	if t.Reference.Self != "" {
		w.Me = &wahaMe{ID: wahaID(t.Reference.Self), PushName: t.Reference.Profile}
	}
	return w
}

func (t *published) waha() (event string, payload any) {
	switch {
	case t.status != nil:
		ack, name := wahaAckOf(t.status.Status)
		return "message.ack", wahaAck{t.wahaPlace(t.status.ID, t.status.Mine), ack, name}
	case t.call != nil:
		c := t.call
		from := t.chat(c.RemoteJID)
		return wahaCalls[c.Status], wahaCall{c.ID, wahaID(from), c.MessageTimestamp.Unix(), c.Video, isGroup(from)}
	case t.session != nil:
		state := wahaState(t.session.State)
		return "session.status", wahaStatus{t.Reference.Name, state, []wahaStatusOnce{{state, t.session.Timestamp.UnixMilli()}}}
	}
	return t.wahaMessage()
}

func (t *published) wahaMessage() (event string, payload any) {
	m := t.message
	switch {
	case m.Reaction != nil:
		to := wahaReactionTo{m.Reaction.Emoji, t.wahaPlace(m.Reaction.MessageID, !m.Mine).ID}
		return "message.reaction", wahaReaction{t.wahaPlace(m.ID, m.Mine), m.MessageTimestamp.Unix(), to}
	case m.Revoked != nil:
		return "message.revoked", wahaRevoked{After: t.wahaWhole(), Revoked: m.Revoked.MessageID}
	case m.Edited != nil:
		return "message.edited", t.wahaWhole()
	case isVote(m):
		var v wahaVote
		v.Vote.wahaPlace, v.Vote.Timestamp = t.wahaPlace(m.ID, m.Mine), m.MessageTimestamp.Unix()
		v.Vote.Selected = append([]string{}, m.Poll.Selected...)
		v.Poll = t.wahaPlace(m.Poll.MessageID, !m.Mine)
		return "poll.vote", v
	case m.Mine:
		return "message.any", t.wahaWhole()
	}
	return "message", t.wahaWhole()
}

// wahaWhole is a message with its content.
func (t *published) wahaWhole() *wahaMessage {
	m, at := t.message, t.wahaPlace(t.message.ID, t.message.Mine)
	out := &wahaMessage{
		ID: at.ID, Timestamp: m.MessageTimestamp.Unix(), From: at.From, FromMe: m.Mine, Source: "app", To: at.To, Participant: at.Participant,
		Body: m.Text, HasMedia: isMedia(m), Author: at.Participant, VCards: vcards(m.Contacts), Data: t.Payload,
	}
	out.Ack, out.AckName = wahaAckOf(m.Status)
	if m.Mine && t.byProgram() {
		out.Source = "api"
	}
	if out.HasMedia {
		out.Body, out.Media = m.Caption, t.wahaMedia()
	}
	if l := m.Location; l != nil {
		out.Location = &wahaLocation{l.Name, decimal(l.Latitude), decimal(l.Longitude)}
	}
	if m.Context != nil && m.Context.MessageID != "" {
		out.ReplyTo = &wahaReply{m.Context.MessageID}
	}
	if m.Edited != nil {
		out.Edited = m.Edited.MessageID
	}
	return out
}

func (t *published) wahaMedia() *wahaMedia {
	m := t.message
	out := &wahaMedia{MimeType: m.MimeType}
	if url := t.file(); url != "" {
		out.URL = &url
	}
	if m.FileName != "" {
		out.FileName = &m.FileName
	}
	if m.Error != nil {
		out.Error = m.Error
	}
	return out
}

// wahaPlace names a message of the event's chat.
func (t *published) wahaPlace(id string, mine bool) wahaPlace {
	h := t.head()
	chat := t.chat(h.RemoteJID)
	p := wahaPlace{ID: strconv.FormatBool(mine) + "_" + wahaID(chat) + "_" + id, From: wahaID(chat), FromMe: mine}
	self := wahaID(t.Reference.Self)
	switch {
	case mine && self != "":
		p.From, p.To = self, new(wahaID(chat))
	case self != "":
		p.To = &self
	}
	if sender := t.sender(chat); sender != "" && mine == h.Mine {
		p.Participant = new(wahaID(sender))
		p.ID += "_" + *p.Participant
	}
	return p
}

// wahaID is an address as WAHA writes it.
func wahaID(address string) string {
	if id, ok := strings.CutSuffix(address, people); ok {
		return id + "@c.us"
	}
	return address
}

func wahaAckOf(status string) (ack int, name string) {
	switch status {
	case "FAIL":
		return -1, "ERROR"
	case "SENDING":
		return 1, "SERVER"
	case "DELIVERED":
		return 2, "DEVICE"
	case "READ":
		return 3, "READ"
	case "PLAYED":
		return 4, "PLAYED"
	}
	return 0, "PENDING"
}

func wahaState(s messaging.State) string {
	switch s {
	case messaging.StateStopped:
		return "STOPPED"
	case messaging.StatePairing:
		return "SCAN_QR_CODE"
	case messaging.StateConnected:
		return "WORKING"
	case messaging.StateLoggedOut, messaging.StateFailed:
		return "FAILED"
	}
	return "STARTING"
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
