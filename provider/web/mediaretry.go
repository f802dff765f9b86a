package web

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// phoneTimeout is how long the account's phone may take to put a file on the
// network again. It may be switched off: then another try brings the file.
const phoneTimeout = 30 * time.Second

// errGone says that not even the phone has a file.
var errGone = &provider.Rejected{Code: "gone", Message: "WhatsApp does not have the file any more"}

// asked are those who wait for the phone to put a file on the network again, by
// the message that the file came with.
type asked struct {
	mu      sync.Mutex
	waiting map[types.MessageID][]chan *events.MediaRetry
}

func (a *asked) wait(id types.MessageID) (answer <-chan *events.MediaRetry, end func()) {
	ch := make(chan *events.MediaRetry, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = map[types.MessageID][]chan *events.MediaRetry{}
	}
	a.waiting[id] = append(a.waiting[id], ch)
	return ch, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for i, other := range a.waiting[id] {
			if other == ch {
				a.waiting[id] = append(a.waiting[id][:i], a.waiting[id][i+1:]...)
				break
			}
		}
		if len(a.waiting[id]) == 0 {
			delete(a.waiting, id)
		}
	}
}

// answer hands what the phone says to those who wait for it.
func (a *asked) answer(e *events.MediaRetry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, ch := range a.waiting[e.MessageID] {
		select {
		case ch <- e:
		default: // it has an answer
		}
	}
}

// reuploaded asks the account's phone to put a file on the network again, and
// returns where it is.
func (s *session) reuploaded(ctx context.Context, c *whatsmeow.Client, h handle) (path string, err error) {
	info, ok := h.message()
	if !ok {
		return "", errGone
	}
	answer, end := s.asked.wait(info.ID)
	defer end()
	if err := c.SendMediaRetryReceipt(ctx, &info, h.Key); err != nil {
		return "", &provider.Temporary{Err: errors.New(redacted(err))}
	}
	late := time.NewTimer(phoneTimeout)
	defer late.Stop()
	select {
	case e := <-answer:
		return answered(e, h.Key)
	case <-late.C:
		return "", &provider.Temporary{Err: errors.New("the phone did not say whether it has the file")}
	case <-s.ctx.Done():
		return "", &provider.Temporary{Err: errClosed}
	case <-ctx.Done():
		return "", &provider.Temporary{Err: ctx.Err()}
	}
}

// answered reads the phone's answer.
func answered(e *events.MediaRetry, key []byte) (path string, err error) {
	n, err := whatsmeow.DecryptMediaRetryNotification(e, key)
	switch {
	case errors.Is(err, whatsmeow.ErrMediaNotAvailableOnPhone):
		return "", errGone
	case err != nil:
		return "", &provider.Temporary{Err: fmt.Errorf("reading the phone's answer about a file: %w", err)}
	}
	switch n.GetResult() {
	case waMmsRetry.MediaRetryNotification_SUCCESS:
		return n.GetDirectPath(), nil
	case waMmsRetry.MediaRetryNotification_NOT_FOUND:
		return "", errGone
	}
	return "", &provider.Temporary{Err: fmt.Errorf("the phone could not bring a file: %s", n.GetResult())}
}

// message names the message that the file came with, and reports whether that
// is known.
func (h handle) message() (info types.MessageInfo, ok bool) {
	chat, err := types.ParseJID(h.Chat)
	if h.Message == "" || err != nil {
		return info, false
	}
	info.ID, info.Chat, info.IsFromMe, info.IsGroup = h.Message, chat, h.Mine, chat.Server == types.GroupServer
	if info.IsGroup {
		info.Sender, err = types.ParseJID(h.Sender)
	}
	return info, err == nil
}

// named notes in a file's handle which message it came with.
func (h handle) named(info types.MessageInfo) handle {
	h.Message, h.Chat, h.Mine = info.ID, info.Chat.ToNonAD().String(), info.IsFromMe
	if info.IsGroup {
		h.Sender = info.Sender.ToNonAD().String()
	}
	return h
}
