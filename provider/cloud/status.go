package cloud

import (
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

var statuses = map[string]provider.Status{
	"sent":      provider.StatusSending,
	"delivered": provider.StatusDelivered,
	"read":      provider.StatusRead,
	"played":    provider.StatusPlayed,
	"failed":    provider.StatusFail,
}

func (r *reader) status(item graph.Value) {
	if item.Get("type").Text() == "call" {
		r.callStatus(item)
		return
	}
	id, word := item.Get("id").ID(), item.Get("status").Text()
	if id == "" {
		r.Reject("a status without a message's id", item)
		return
	}
	participant := first(item.Get("recipient_participant_id").ID(), item.Get("recipient_participant_user_id").ID())
	key := strings.Join([]string{"status", id, word, participant}, ":")
	status, known := statuses[word]
	if !known {
		r.Raw(key, "status", item)
		return
	}
	s := &provider.StatusChange{
		MessageID:   id,
		OwnID:       item.Get("biz_opaque_callback_data").ID(),
		Status:      status,
		At:          item.Get("timestamp").Time(),
		To:          recipient(item),
		Participant: participant,
		WindowUntil: freeUntil(item.Get("conversation")),
	}
	if status == provider.StatusFail {
		s.Error = failure(item.Get("errors"))
		if s.Error == nil {
			s.Error = &provider.Failure{Message: "the network gave no reason"}
		}
		s.Error.Advice = graph.Advice(s.Error.Code)
	}
	r.Add(key, s)
}

// freeUntil returns when a free entry point ends. An advertisement opens it,
// and the account's answer extends it to three days. Other kinds of
// conversations do not affect what may be sent.
func freeUntil(conversation graph.Value) time.Time {
	if conversation.Get("origin").Get("type").Text() != "referral_conversion" {
		return time.Time{}
	}
	return conversation.Get("expiration_timestamp").Time()
}

// recipient returns the chat of a status.
func recipient(item graph.Value) provider.Address {
	id := item.Get("recipient_id").ID()
	if item.Get("recipient_type").Text() == "group" && id != "" {
		return group(id)
	}
	return person(item.Get("recipient_user_id").ID(), id)
}
