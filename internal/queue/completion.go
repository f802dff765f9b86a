package queue

import "time"

// completion is what becomes of a partition after a run.
type completion struct {
	upTo   int64         // head: the last job that is finished, or parked
	tries  int           // failed attempts of what is the head then
	first  int64         // its first failure; -1: now
	wait   time.Duration // until it may be claimed
	pause  time.Duration // of the subscriber; 0: none
	worked bool          // the last job was Done

	parks       bool          // the job at upTo goes to a partition of its own, with …
	failed      int           // … its failed attempts …
	firstFailed int64         // … its first failure; -1: now …
	pending     time.Duration // … and its wait
}

// untouched hands a partition back as it was claimed.
func (r *run) untouched(wait time.Duration) completion {
	return completion{upTo: r.head, tries: r.attempt, first: r.since, wait: wait}
}

// completed is what the outcomes mean. Only the last may be other than Done.
func (r *run) completed() completion {
	s := r.untouched(0)
	if len(r.jobs) == 0 { // never seen; it must not be claimed in circles
		s.wait = failedWait
	}
	for _, out := range r.outs {
		switch {
		case out.Result == Done:
			s.upTo, s.tries, s.first, s.worked = s.upTo+1, 0, 0, true
			continue
		case out.Result == Park && r.parked == 0:
			s.fail()
			s.parks, s.failed, s.firstFailed, s.pending = true, s.tries, s.first, out.After
			s.upTo, s.tries, s.first = s.upTo+1, 0, 0
		case out.Result == Retry, out.Result == Park:
			s.fail()
			s.wait = out.After
		case out.Result == OpenCircuit:
			s.pause = max(out.After, time.Millisecond)
		}
		s.worked = false
	}
	return s
}

func (s *completion) fail() {
	s.tries++
	if s.first == 0 {
		s.first = -1
	}
}

// recorded are the outcomes that Complete is to see.
func (r *run) recorded() []Outcome {
	if n := len(r.outs); n > 0 && r.outs[n-1].Result == Snooze {
		return r.outs[:n-1]
	}
	return r.outs
}
