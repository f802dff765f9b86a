package messaging

import (
	"context"
	"slices"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// queueParts stores the messages of a prepared message and puts them into its chat's partition.
// Nearly always it is one; else it returns the one that is of the prepared message's type.
func (s *Service) queueParts(ctx context.Context, u *store.Batch, d preparedMessage) (int64, error) {
	d.request = s.chooseID(&d)
	splitter, ok := d.provider.(provider.Splitter)
	if !ok {
		d.ownID = d.request
		return s.queuePart(ctx, u, d)
	}
	var main int64
	parts := splitter.Split(d.content)
	first := max(0, slices.IndexFunc(parts, func(c provider.Content) bool { return c.Type() == d.content.Type() }))
	for i, content := range parts {
		part := d
		part.content, part.ownID = content, d.request
		if i != first {
			part.ownID = s.chooseID(&d)
		}
		own := content.Type() == d.content.Type()
		if own && d.req.Content.Type() != d.content.Type() {
			part.req.Content = d.req.Content // it is shown as it was asked for
		} else {
			part.req.Content = content
		}
		if !own {
			part.file, part.template, part.req.IdempotencyKey = nil, nil, ""
		}
		if i > 0 {
			part.req.ReplyTo = ""
		}
		seq, err := s.queuePart(ctx, u, part)
		if err != nil {
			return 0, err
		}
		if i == first {
			main = seq
		}
	}
	return main, nil
}
