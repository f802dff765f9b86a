package webtest

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"google.golang.org/protobuf/proto"
)

// mediaGone is the network's code of a file that the phone does not have.
const mediaGone = 2

// answerMediaRetry puts a file on the media host again that a linked device
// asks for, and tells it where, or that the phone does not have it.
func (p *Phone) answerMediaRetry(n *node) {
	id := str(n, "id")
	if !has(n, "rmr") {
		return // about a history, which has no answer
	}
	rmr := n.GetChildByTag("rmr")
	answer := node{
		Tag:   "notification",
		Attrs: attrs{"from": p.jid, "type": "mediaretry", "id": id, "t": time.Now().Unix()},
	}
	sealed, err := p.uploadAgain(id, n)
	if err != nil {
		answer.Content = []node{rmr, {Tag: "error", Attrs: attrs{"code": mediaGone}}}
	} else {
		answer.Content = []node{rmr, *sealed}
	}
	p.s.deliveries(func(b *batch) {
		if d := p.s.device(jid(n, "from")); d != nil {
			b.deliver(d, answer)
		}
	})
}

// uploadAgain returns the sealed answer to what is asked for in n.
func (p *Phone) uploadAgain(id string, n *node) (*node, error) {
	m := p.fileMessage(id)
	if m == nil {
		return nil, errors.New("the message has no file that the phone knows")
	}
	key, err := hkdf.Key(sha256.New, m.GetMediaKey(), nil, "WhatsApp Media Retry Notification", 32)
	if err != nil {
		return nil, err
	}
	gcm, err := newGCM(key)
	if err != nil {
		return nil, err
	}
	iv := bytesOf(n, "encrypt", "enc_iv")
	if len(iv) != gcm.NonceSize() {
		return nil, errors.New("the request is not complete")
	}
	if _, err := gcm.Open(nil, iv, bytesOf(n, "encrypt", "enc_p"), []byte(id)); err != nil {
		return nil, fmt.Errorf("opening the request: %w", err)
	}
	where, err := p.s.reupload(m.GetDirectPath())
	if err != nil {
		return nil, err
	}
	plain, err := proto.Marshal(&waMmsRetry.MediaRetryNotification{
		StanzaID: &id, DirectPath: &where, Result: waMmsRetry.MediaRetryNotification_SUCCESS.Enum(),
	})
	if err != nil {
		return nil, err
	}
	own := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(own) // never fails
	return &node{Tag: "encrypt", Content: []node{
		{Tag: "enc_p", Content: gcm.Seal(nil, own, plain, []byte(id))}, {Tag: "enc_iv", Content: own},
	}}, nil
}

// reupload puts an expired file at a new path.
func (s *Server) reupload(directPath string) (string, error) {
	s.mu.Lock()
	old := s.files[barePath(directPath)]
	s.mu.Unlock()
	if old == nil {
		return "", errors.New("there is no such file")
	}
	return s.keep("again-"+s.newID(), old.data), nil
}

// fileMessage is the file of a message that the phone has, or nil.
func (p *Phone) fileMessage(id string) whatsmeow.DownloadableMessage {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if o := p.sent[id]; o != nil {
		return fileOf(o.Message)
	}
	for _, m := range p.messages {
		if m.ID == id && m.Content != nil {
			return fileOf(m.Content)
		}
	}
	return nil
}

// fileOf is the file that a message carries, or nil.
func fileOf(m *waE2E.Message) whatsmeow.DownloadableMessage {
	switch {
	case m.GetImageMessage() != nil:
		return m.GetImageMessage()
	case m.GetVideoMessage() != nil:
		return m.GetVideoMessage()
	case m.GetAudioMessage() != nil:
		return m.GetAudioMessage()
	case m.GetDocumentMessage() != nil:
		return m.GetDocumentMessage()
	case m.GetStickerMessage() != nil:
		return m.GetStickerMessage()
	}
	return nil
}
