package compat

import (
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// evolution is Evolution API 2: https://doc.evolution-api.com/v2/en/configuration/webhooks
var evolution = &Format{Name: "evolution", types: allTypes, has: hasAny, body: evolutionBody}

// hasAny is for a format that has a likeness of every event of a reference.
func hasAny(t *published) bool {
	return t.message != nil || t.status != nil || t.call != nil || t.session != nil
}

// evolutionWebhook is the envelope.
type evolutionWebhook struct {
	Event       string  `json:"event"`
	Instance    string  `json:"instance"`
	Data        any     `json:"data"`
	Destination string  `json:"destination"`
	DateTime    string  `json:"date_time"`
	Sender      *string `json:"sender"`
	ServerURL   string  `json:"server_url"`
	APIKey      *string `json:"apikey"` // always null, as where their server does not show it
}

// evolutionKey names a message.
type evolutionKey struct {
	RemoteJID   string `json:"remoteJid"`
	FromMe      bool   `json:"fromMe"`
	ID          string `json:"id"`
	Participant string `json:"participant,omitempty"`
}

// evolutionMessage is a message that came or was sent.
type evolutionMessage struct {
	Key              evolutionKey `json:"key"`
	PushName         string       `json:"pushName"`
	Status           string       `json:"status"`
	Message          any          `json:"message"`
	ContextInfo      object       `json:"contextInfo,omitempty"`
	MessageType      string       `json:"messageType"`
	MessageTimestamp int64        `json:"messageTimestamp"`
	InstanceID       string       `json:"instanceId"`
	Source           string       `json:"source"`
}

// evolutionUpdate is a new status of a message, or a vote on it.
type evolutionUpdate struct {
	MessageID   string   `json:"messageId"`
	KeyID       string   `json:"keyId"`
	RemoteJID   string   `json:"remoteJid"`
	FromMe      bool     `json:"fromMe"`
	Participant string   `json:"participant"`
	Status      string   `json:"status,omitempty"`
	PollUpdates []object `json:"pollUpdates,omitempty"`
	InstanceID  string   `json:"instanceId"`
}

// evolutionCall is a step of a call.
type evolutionCall struct {
	ID      string `json:"id"`
	From    string `json:"from"`
	ChatID  string `json:"chatId"`
	Date    string `json:"date"`
	Status  string `json:"status"`
	IsVideo bool   `json:"isVideo"`
	IsGroup bool   `json:"isGroup"`
	Offline bool   `json:"offline"`
}

// evolutionConnection is the state of an instance.
type evolutionConnection struct {
	Instance     string `json:"instance"`
	WUID         string `json:"wuid,omitempty"`
	ProfileName  string `json:"profileName,omitempty"`
	State        string `json:"state"`
	StatusReason int    `json:"statusReason"`
}

// isoMillis is how JavaScript writes an instant.
const isoMillis = "2006-01-02T15:04:05.000Z"

func evolutionBody(t *published) any {
	event, data := t.evolution()
	w := evolutionWebhook{
		Event: event, Instance: t.Reference.Name, Data: data, Destination: t.URL, DateTime: t.At.UTC().Format(isoMillis), ServerURL: t.Reference.BaseURL,
	}
	if t.Reference.Self != "" {
		w.Sender = &t.Reference.Self
	}
	return w
}

func (t *published) evolution() (event string, data any) {
	switch {
	case t.status != nil:
		return "messages.update", t.evolutionUpdate(t.status.ID, evolutionStatus(t.status.Status))
	case t.call != nil:
		return "call", t.evolutionCall()
	case t.session != nil:
		return t.evolutionSession()
	}
	return t.evolutionMessage()
}

func (t *published) evolutionMessage() (event string, data any) {
	m, chat := t.message, t.chat(t.message.RemoteJID)
	kind, message := t.content()
	switch {
	case m.Revoked != nil:
		return "messages.delete", message[kind].(object)["key"]
	case m.Edited != nil:
		return "messages.edited", respelled(message[kind], baileys)
	case isVote(m):
		voter := t.sender(chat)
		if voter == "" && !m.Mine {
			voter = chat
		}
		u := t.evolutionUpdate(m.Poll.MessageID, "")
		u.FromMe, u.PollUpdates = !m.Mine, t.votes(voter) // the poll is the other side's
		return "messages.update", u
	case m.Mine && t.byProgram():
		event = "send.message"
	default:
		event = "messages.upsert"
	}
	if file := t.file(); file != "" {
		message["mediaUrl"] = file
	}
	return event, evolutionMessage{
		Key: evolutionKey{chat, m.Mine, m.ID, t.sender(chat)}, PushName: t.author(), Status: evolutionStatus(m.Status),
		Message: respelled(message, baileys), ContextInfo: t.quoted(), MessageType: kind, MessageTimestamp: m.MessageTimestamp.Unix(),
		InstanceID: t.Reference.ID, Source: "unknown",
	}
}

// baileys writes integers of 64 bits as that library does.
func baileys(name string, value any) (string, any) {
	if n, ok := value.(int64); ok && name == "fileLength" {
		return name, long(n)
	}
	return name, value
}

func (t *published) evolutionUpdate(id, status string) evolutionUpdate {
	h := t.head()
	chat := t.chat(h.RemoteJID)
	return evolutionUpdate{
		MessageID: id, KeyID: id, RemoteJID: chat, FromMe: h.Mine, Participant: chat, Status: status, InstanceID: t.Reference.ID,
	}
}

func evolutionStatus(status string) string {
	switch status {
	case "FAIL":
		return "ERROR"
	case "SENDING":
		return "SERVER_ACK"
	case "DELIVERED":
		return "DELIVERY_ACK"
	}
	return status // PENDING, READ and PLAYED are the same
}

// evolutionSteps are the steps of a call as Baileys calls them.
var evolutionSteps = map[provider.CallStatus]string{
	provider.CallRinging: "offer", provider.CallAccepted: "accept", provider.CallRejected: "reject",
	provider.CallMissed: "timeout", provider.CallEnded: "terminate",
}

func (t *published) evolutionCall() evolutionCall {
	c := t.call
	chat := t.chat(c.RemoteJID)
	return evolutionCall{
		ID: c.ID, From: chat, ChatID: chat, Date: c.MessageTimestamp.UTC().Format(isoMillis),
		Status: evolutionSteps[c.Status], IsVideo: c.Video, IsGroup: isGroup(chat),
	}
}

func (t *published) evolutionSession() (event string, data any) {
	if t.session.State == messaging.StatePairing && t.QR != nil {
		qr := struct {
			Instance    string  `json:"instance"`
			PairingCode *string `json:"pairingCode"`
			Code        string  `json:"code"`
			Base64      string  `json:"base64"`
		}{Instance: t.Reference.Name, Code: t.QR.Code, Base64: t.QR.Image}
		if t.PairingCode != "" {
			qr.PairingCode = &t.PairingCode
		}
		return "qrcode.updated", map[string]any{"qrcode": qr}
	}
	c := evolutionConnection{Instance: t.Reference.Name}
	c.State, c.StatusReason = evolutionState(t.session)
	if c.State == "open" {
		c.WUID, c.ProfileName = t.Reference.Self, t.Reference.Profile
	}
	return "connection.update", c
}

// evolutionReasons are the numbers that Baileys has for why a connection ended.
var evolutionReasons = map[string]int{
	"logged_out_on_phone": 401, "banned": 403, "client_outdated": 405, "network": 408, "replaced": 440,
}

func evolutionState(s *messaging.SessionPayload) (state string, reason int) {
	switch s.State {
	case messaging.StateConnected:
		return "open", 200
	case messaging.StateStopped:
		return "close", 428
	case messaging.StateLoggedOut:
		return "close", 401
	case messaging.StateFailed:
		if s.LastError != nil && evolutionReasons[s.LastError.Code] != 0 {
			return "close", evolutionReasons[s.LastError.Code]
		}
		return "close", 500
	}
	return "connecting", 200
}
