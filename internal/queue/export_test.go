package queue

import "github.com/trunklinehq/trunkline/internal/testsignal"

// Commits is sent after each commit on the handle of q.
func (q *Queue) Commits() *testsignal.Signal { return &q.db.Commits }
