package messaging

import (
	"context"

	"github.com/trunklinehq/trunkline/provider"
)

// queueParts stores the messages of a draft and puts them into its chat's lane.
// Nearly always it is one; else it returns the one that is of the draft's type.
func (s *Service) queueParts(ctx context.Context, u *unit, d draft) (int64, error) {
	splitter, ok := d.provider.(provider.Splitter)
	if !ok {
		return s.queuePart(ctx, u, d)
	}
	var main int64
	for i, content := range splitter.Split(d.content) {
		part := d
		part.content = content
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
		if own || main == 0 {
			main = seq
		}
	}
	return main, nil
}
