package messaging

import "context"

// RemoveFiles removes what was deleted, at once.
func (s *Service) RemoveFiles(ctx context.Context) error { return s.attachments.RemoveGone(ctx) }
