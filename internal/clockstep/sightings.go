package clockstep

import "time"

// Sightings finds out who does not move, without a clock: a holder that lives changes
// what it holds, by its heartbeats, whatever the clock of the database shows. The zero
// value has seen nothing. It is not safe for concurrent use.
type Sightings[K comparable] struct {
	// Rounds is how many looks in a row must see the same.
	Rounds int
	// For is how long they must see it: several heartbeats.
	For time.Duration

	seen map[K]sighting
}

type sighting struct {
	value int64
	times int
	since time.Time
}

// Look notes what is seen now, and returns who was seen with the same value in as many
// looks in a row as are necessary. Who is not seen is forgotten.
func (s *Sightings[K]) Look(values map[K]int64) (still map[K]bool) {
	seen := make(map[K]sighting, len(values))
	still = map[K]bool{}
	now := time.Now()
	for k, v := range values {
		one := s.seen[k]
		if one.times == 0 || one.value != v {
			one = sighting{value: v, since: now}
		}
		one.times++
		seen[k] = one
		if one.times >= s.Rounds && now.Sub(one.since) >= s.For {
			still[k] = true
		}
	}
	s.seen = seen
	return still
}

// Forget has all be seen for the first time at the next look: the one who looks has not
// looked for long, so that others may have had no time either.
func (s *Sightings[K]) Forget() { s.seen = nil }
