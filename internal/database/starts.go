package database

import "sync"

// Starts remembers notes that something begins which must not be done twice. If the
// database returns an error for a note, it may have been written nevertheless; nothing
// was begun then. Without this such a note would be taken for that of an attempt whose
// outcome is not known. The zero value is ready to use.
type Starts struct{ doubtful sync.Map } // by id: the note in microseconds

// Note returns the note to write for id, and the doubtful one of this process that may be
// there, or 0. The note may replace that, and no other.
func (s *Starts) Note(id, nowUS int64) (note, mine int64) {
	if at, ok := s.doubtful.Load(id); ok {
		return at.(int64), at.(int64)
	}
	return nowUS, 0
}

// Written says whether the note for id was written.
func (s *Starts) Written(id, note int64, err error) {
	if err != nil {
		s.doubtful.Store(id, note)
		return
	}
	s.doubtful.Delete(id)
}

// Began reports whether a note that was read is that of an attempt, and not a doubtful one
// of this process.
func (s *Starts) Began(id, note int64) bool {
	at, ok := s.doubtful.Load(id)
	return note > 0 && (!ok || at.(int64) != note)
}
