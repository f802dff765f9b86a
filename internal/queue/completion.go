package lane

import "time"

// settlement is what becomes of a lane after a run.
type settlement struct {
	upTo   int64         // head: the last item that is finished, or detached
	tries  int           // failed attempts of what is the head then
	first  int64         // its first failure; -1: now
	wait   time.Duration // until it may be claimed
	pause  time.Duration // of the consumer; 0: none
	worked bool          // the last item was Done

	apart       bool          // the item at upTo goes to a lane of its own, with …
	failed      int           // … its failed attempts …
	firstFailed int64         // … its first failure; -1: now …
	pending     time.Duration // … and its wait
}

// untouched hands a lane back as it was claimed.
func (r *run) untouched(wait time.Duration) settlement {
	return settlement{upTo: r.head, tries: r.attempt, first: r.since, wait: wait}
}

// settled is what the outcomes mean. Only the last may be other than Done.
func (r *run) settled() settlement {
	s := r.untouched(0)
	if len(r.items) == 0 { // never seen; it must not be claimed in circles
		s.wait = failedWait
	}
	for _, out := range r.outs {
		switch {
		case out.Verdict == Done:
			s.upTo, s.tries, s.first, s.worked = s.upTo+1, 0, 0, true
			continue
		case out.Verdict == Detach && r.detached == 0:
			s.fail()
			s.apart, s.failed, s.firstFailed, s.pending = true, s.tries, s.first, out.After
			s.upTo, s.tries, s.first = s.upTo+1, 0, 0
		case out.Verdict == Retry, out.Verdict == Detach:
			s.fail()
			s.wait = out.After
		case out.Verdict == Pause:
			s.pause = max(out.After, time.Millisecond)
		}
		s.worked = false
	}
	return s
}

func (s *settlement) fail() {
	s.tries++
	if s.first == 0 {
		s.first = -1
	}
}

// recorded are the outcomes that Settle is to see.
func (r *run) recorded() []Outcome {
	if n := len(r.outs); n > 0 && r.outs[n-1].Verdict == Yield {
		return r.outs[:n-1]
	}
	return r.outs
}
