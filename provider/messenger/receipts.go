package messenger

import (
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// delivery reads until when messages were delivered. It may also name messages.
func (r *reader) delivery(in *item, v graph.Value) {
	named := false
	for mid := range v.Get("mids").Items() {
		named = r.receipt(in, mid.ID(), provider.StatusDelivered) || named
	}
	r.watermark(in, v.Get("watermark"), provider.StatusDelivered, named)
}

// read reads until when messages were read, or which message.
func (r *reader) read(in *item, v graph.Value) {
	named := r.receipt(in, v.Get("mid").ID(), provider.StatusRead)
	r.watermark(in, v.Get("watermark"), provider.StatusRead, named)
}

// receipt reports the status of a message, if the item names one.
func (r *reader) receipt(in *item, id string, status provider.Status) bool {
	if id == "" {
		return false
	}
	r.Add(status.String()+apart+id, &provider.StatusChange{MessageID: id, Status: status, At: in.at, To: r.contact(in)})
	return true
}

// watermark reports until when all messages of the chat have a status. It may
// be missing if messages were named.
func (r *reader) watermark(in *item, mark graph.Value, status provider.Status, named bool) {
	s := &provider.StatusChange{Status: status, At: in.at, UpTo: mark.Time(), To: r.contact(in)}
	switch {
	case !s.UpTo.IsZero() && s.To.ChatID != "":
		r.Add(status.String()+apart+s.To.ChatID+apart+s.UpTo.String(), s)
	case !named:
		r.Reject("a receipt that names neither a message nor a time", in.all)
	}
}
