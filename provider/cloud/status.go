package cloud

import (
	"encoding/json"
	"strings"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

type progress struct {
	ID                graph.ID   `json:"id"`
	Type              graph.ID   `json:"type"`
	Status            string     `json:"status"`
	At                graph.Time `json:"timestamp"`
	Participant       graph.ID   `json:"recipient_participant_id"`
	ParticipantUserID graph.ID   `json:"recipient_participant_user_id"`
	CallbackData      graph.ID   `json:"biz_opaque_callback_data"`
	Errors            []struct {
		Code    graph.ID        `json:"code"`
		Title   string          `json:"title"`
		Message string          `json:"message"`
		Details string          `json:"details"`    // where older versions have it
		Data    json.RawMessage `json:"error_data"` // an object with details, or a string
	} `json:"errors"`
}

var statuses = map[string]provider.Status{
	"sent":      provider.StatusSending,
	"delivered": provider.StatusDelivered,
	"read":      provider.StatusRead,
	"played":    provider.StatusPlayed,
	"failed":    provider.StatusFail,
}

func (r *reader) status(item []byte) {
	var in progress
	if err := json.Unmarshal(item, &in); err != nil {
		r.reject("a status that cannot be read: "+err.Error(), item)
		return
	}
	if in.ID == "" {
		r.reject("a status without a message's id", item)
		return
	}
	participant := first(string(in.Participant), string(in.ParticipantUserID))
	key := strings.Join([]string{"status", string(in.ID), in.Status, participant}, ":")
	status, known := statuses[in.Status]
	switch {
	case in.Type == "call":
		r.raw(key, "call_status", item)
	case !known:
		r.raw(key, "status", item)
	default:
		r.add(key, &provider.StatusChange{
			MessageID:   string(in.ID),
			OwnID:       string(in.CallbackData),
			Status:      status,
			At:          in.At.Time,
			Participant: participant,
			Error:       in.failure(status),
		})
	}
}

// failure is why a message failed. The network gives the reason in several
// places, and not always.
func (in *progress) failure(status provider.Status) *provider.Failure {
	if status != provider.StatusFail {
		return nil
	}
	if len(in.Errors) == 0 {
		return &provider.Failure{Message: "the network gave no reason"}
	}
	e := in.Errors[0]
	text := first(e.Message, e.Title)
	more := first(scalar(jsonscan.Get(e.Data, "details")), scalar(e.Data), e.Details)
	if more != "" && more != text {
		text = strings.TrimPrefix(text+": "+more, ": ")
	}
	return &provider.Failure{Code: string(e.Code), Message: text}
}
