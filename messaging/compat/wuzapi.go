package compat

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// wuzapi is wuzapi with WEBHOOK_FORMAT=json: https://github.com/asternic/wuzapi
var wuzapi = &Format{Name: "wuzapi", types: allTypes, has: wuzapiHas, body: wuzapiBody, headers: wuzapiHeaders}

// wuzapiReceipts are the states of receipts; it is silent about other statuses.
var wuzapiReceipts = map[string]bool{"DELIVERED": true, "READ": true}

func wuzapiHas(t *published) bool {
	switch {
	case t.status != nil:
		return wuzapiReceipts[t.status.Status]
	case t.session != nil:
		return t.session.State != messaging.StateStarting
	}
	return hasAny(t)
}

// wuzapiHeaders is the signature: the HMAC-SHA256 of the body in hexadecimal
// digits.
func wuzapiHeaders(s Signed) http.Header {
	if s.Key == nil {
		return nil
	}
	mac := hmac.New(sha256.New, s.Key)
	_, _ = mac.Write(s.Body) // never fails
	return http.Header{"X-Hmac-Signature": {hex.EncodeToString(mac.Sum(nil))}}
}

// wuzapiWebhook is the envelope.
type wuzapiWebhook struct {
	Type         string      `json:"type"`
	Event        any         `json:"event"`
	State        string      `json:"state,omitempty"`
	QRCode       string      `json:"qrCodeBase64,omitempty"`
	S3           *wuzapiFile `json:"s3,omitempty"`
	IsSticker    bool        `json:"isSticker,omitempty"`
	PollVote     *wuzapiVote `json:"pollVote,omitempty"`
	UserID       string      `json:"userID"`
	InstanceName string      `json:"instanceName"`
}

// wuzapiSource says who wrote what where.
type wuzapiSource struct {
	Chat           string
	Sender         string
	IsFromMe       bool
	IsGroup        bool
	AddressingMode string
	SenderAlt      string
	RecipientAlt   string
}

// wuzapiInfo is what is known of a message beside its content.
type wuzapiInfo struct {
	wuzapiSource
	ID           string
	ServerID     int
	Type         string
	PushName     string
	Timestamp    time.Time
	Category     string
	Multicast    bool
	MediaType    string
	Edit         string
	VerifiedName any
}

type wuzapiMessage struct {
	Info                  wuzapiInfo
	Message               any
	IsEphemeral           bool
	IsViewOnce            bool
	IsViewOnceV2          bool
	IsDocumentWithCaption bool
	IsEdit                bool
	RawMessage            any
}

type wuzapiReceipt struct {
	wuzapiSource
	MessageIDs    []string
	Timestamp     time.Time
	Type          string
	MessageSender string
}

type wuzapiCall struct {
	From           string
	Timestamp      time.Time
	CallCreator    string
	CallCreatorAlt string
	CallID         string
	GroupJID       string
}

// wuzapiCallStarted is a call that is offered or accepted.
type wuzapiCallStarted struct {
	wuzapiCall
	RemotePlatform string
	RemoteVersion  string
	Data           any
}

type wuzapiCallOver struct {
	wuzapiCall
	Reason string
	Data   any
}

// wuzapiFile is a file as their store in S3 has it.
type wuzapiFile struct {
	URL      string `json:"url"`
	MimeType string `json:"mimeType"`
	FileName string `json:"fileName"`
	Size     int64  `json:"size"`
}

type wuzapiVote struct {
	Poll     string   `json:"pollCreationMsgID"`
	Selected []string `json:"selectedOptions"`
	Hashes   []string `json:"selectedHashesB64"`
}

func wuzapiBody(t *published) any {
	var w wuzapiWebhook
	switch {
	case t.status != nil:
		w = t.wuzapiReceipt()
	case t.call != nil:
		w = t.wuzapiCall()
	case t.session != nil:
		w = t.wuzapiSession()
	default:
		w = t.wuzapiMessage()
	}
	w.UserID, w.InstanceName = t.Reference.ID, t.Reference.Name
	return w
}

func (t *published) wuzapiMessage() wuzapiWebhook {
	m := t.message
	kind, message := t.content()
	w := wuzapiWebhook{Type: "Message", IsSticker: m.Sticker}
	info := wuzapiInfo{
		wuzapiSource: t.wuzapiSource(m.Mine), ID: m.ID, PushName: t.author(), Timestamp: instant(m.MessageTimestamp.Time),
	}
	info.Type, info.MediaType = wuzapiType(kind, m)
	switch {
	case isVote(m):
		info.Type = "poll"
		message = object{"pollUpdateMessage": object{"pollCreationMessageKey": t.keyOf(m.Poll.MessageID, !m.Mine)}}
		w.PollVote = &wuzapiVote{m.Poll.MessageID, append([]string{}, m.Poll.Selected...), []string{}}
	case m.Edited != nil:
		info.Edit = "1"
	case m.Revoked != nil:
		info.Edit = "7"
	default:
		message = t.wuzapiQuoting(kind, message)
	}
	if isMedia(m) && m.FileURL != "" {
		w.S3 = &wuzapiFile{t.file(), m.MimeType, m.FileName, m.FileLength}
	}
	spelled := respelled(message, whatsmeow)
	w.Event = wuzapiMessage{Info: info, Message: spelled, IsEdit: m.Edited != nil, RawMessage: spelled}
	return w
}

// wuzapiQuoting puts what a message answers into it, where a plain text has no
// place for it.
func (t *published) wuzapiQuoting(kind string, message object) object {
	quoted := t.quoted()
	if len(quoted) == 0 || t.message.Reaction != nil {
		return message
	}
	if kind == "conversation" {
		return object{"extendedTextMessage": object{"text": t.message.Text, "contextInfo": quoted}}
	}
	message[kind].(object)["contextInfo"] = quoted
	return message
}

// whatsmeow spells members as that library does.
func whatsmeow(name string, value any) (string, any) {
	switch name {
	case "url":
		return "URL", value
	case "jpegThumbnail":
		return "JPEGThumbnail", value
	case "ptt":
		return "PTT", value
	case "id":
		return "ID", value
	case "remoteJid":
		return "remoteJID", value
	case "stanzaId":
		return "stanzaID", value
	case "timestampMs":
		return "timestampMS", value
	case "selectedButtonId":
		return "selectedButtonID", value
	case "selectedDisplayText":
		return "Response", object{"SelectedDisplayText": value}
	}
	return name, value
}

// wuzapiType are the two words that WhatsApp has for a kind of message.
func wuzapiType(kind string, m *messaging.MessagePayload) (general, media string) {
	switch kind {
	case "reactionMessage":
		return "reaction", ""
	case "pollCreationMessage":
		return "poll", ""
	case "locationMessage":
		return "media", "location"
	case "contactMessage":
		return "media", "vcard"
	case "contactsArrayMessage":
		return "media", "contact_array"
	case "stickerMessage":
		return "media", "sticker"
	}
	switch {
	case !isMedia(m):
		return "text", ""
	case m.Type == messaging.TypeAudio && m.Waveform != "":
		return "media", "ptt"
	}
	return "media", m.Type
}

// instant is a time as JSON has it, which knows no year beyond 9999: what no
// calendar has is the zero instant.
func instant(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// wuzapiSource is the place of an event that the account made, or another.
func (t *published) wuzapiSource(mine bool) wuzapiSource {
	chat := t.chat(t.head().RemoteJID)
	s := wuzapiSource{Chat: chat, Sender: chat, IsFromMe: mine, IsGroup: isGroup(chat), AddressingMode: "pn"}
	if sender := t.sender(chat); sender != "" {
		s.Sender = sender
	}
	if mine {
		s.Sender = t.Reference.Self
	}
	if strings.HasSuffix(s.Sender, hidden) {
		s.AddressingMode = "lid"
	}
	return s
}

func (t *published) wuzapiReceipt() wuzapiWebhook {
	h := &t.status.Head
	w := wuzapiWebhook{Type: "ReadReceipt", State: "Delivered"}
	r := wuzapiReceipt{MessageIDs: []string{h.ID}, Timestamp: instant(t.At), wuzapiSource: t.wuzapiSource(!h.Mine)}
	switch {
	case h.Status == "READ" && h.Mine:
		w.State, r.Type = "Read", "read"
	case h.Status == "READ":
		w.State, r.Type = "ReadSelf", "read-self"
	}
	if h.Mine && r.IsGroup { // which of them it was is not told
		r.Sender = r.Chat
	}
	w.Event = r
	return w
}

// wuzapiReasons are why a call is over: wuzapi has one event for all of them.
var wuzapiReasons = map[provider.CallStatus]string{provider.CallRejected: "reject", provider.CallMissed: "timeout"}

func (t *published) wuzapiCall() wuzapiWebhook {
	c := t.call
	from := t.chat(c.RemoteJID)
	call := wuzapiCall{From: from, Timestamp: instant(c.MessageTimestamp.Time), CallCreator: from, CallID: c.ID}
	switch c.Status {
	case provider.CallRinging:
		return wuzapiWebhook{Type: "CallOffer", Event: wuzapiCallStarted{wuzapiCall: call}}
	case provider.CallAccepted:
		return wuzapiWebhook{Type: "CallAccept", Event: wuzapiCallStarted{wuzapiCall: call}}
	}
	return wuzapiWebhook{Type: "CallTerminate", Event: wuzapiCallOver{wuzapiCall: call, Reason: wuzapiReasons[c.Status]}}
}

func (t *published) wuzapiSession() wuzapiWebhook {
	s := t.session
	switch s.State {
	case messaging.StateConnected:
		return wuzapiWebhook{Type: "Connected", Event: object{}}
	case messaging.StatePairing:
		if t.QR == nil {
			return wuzapiWebhook{Type: "QRTimeout", Event: "timeout"}
		}
		return wuzapiWebhook{Type: "QR", Event: "code", QRCode: t.QR.Image}
	case messaging.StateLoggedOut:
		return wuzapiWebhook{Type: "LoggedOut", Event: object{"OnConnect": false, "Reason": 401}}
	case messaging.StateFailed:
		reason, message := 500, ""
		if s.LastError != nil {
			message = s.LastError.Message
			if n := evolutionReasons[s.LastError.Code]; n != 0 { // the same numbers
				reason = n
			}
		}
		return wuzapiWebhook{Type: "ConnectFailure", Event: object{"Reason": reason, "Message": message}}
	}
	return wuzapiWebhook{Type: "Disconnected", Event: object{}}
}
