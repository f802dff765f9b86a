package main

import "runtime/debug"

// defaultGCPercent lets the heap grow to three times what is in use. Most of it lives
// for the time of a message: collecting it half as often saves CPU time.
const defaultGCPercent = 200

// maxGCPercent is the greatest target that can be set. Go takes one of 32 bits, and one
// below 0 would end the collection of garbage.
const maxGCPercent = 10_000

// tune sets how often garbage is collected. The variables of Go, which getenv reads,
// take effect where no flag is given.
func (s settings) tune(getenv func(string) string) {
	switch {
	case s.GCPercent > 0:
		debug.SetGCPercent(s.GCPercent)
	case getenv("GOGC") == "":
		debug.SetGCPercent(defaultGCPercent)
	}
	if s.MemoryLimit > 0 {
		debug.SetMemoryLimit(int64(s.MemoryLimit))
	}
}
