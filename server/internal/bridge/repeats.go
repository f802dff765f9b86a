package bridge

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"
)

// Limits of what bots repeat in a chat.
const (
	maxRepeats    = 20 // the same message
	repeatsWithin = 5 * time.Minute
	repeatsKept   = 64     // messages of a chat that are remembered
	repeatsChats  = 10_000 // chats that are
)

// repeats remembers what bots and flows said in chats a moment ago. When two bots
// answer each other, each message begins a run, so that no run repeats itself;
// repeats silences one of them. It is the memory of one process: several nodes,
// or one that restarts, let a few more messages through. The zero value is
// empty.
type repeats struct {
	mu    sync.Mutex
	seed  maphash.Seed
	chats map[string][]utterance
}

type utterance struct {
	words, effect uint64 // hashes of what was said, and of the run and the effect that did
	at            time.Time
}

// allow reports whether an effect of a run may say something in a chat. It may
// be asked again for the same effect: turns are computed again when their
// commit fails.
func (r *repeats) allow(chat, run, effect string, words []byte, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.chats == nil {
		r.seed, r.chats = maphash.MakeSeed(), map[string][]utterance{}
	}
	u := utterance{maphash.Bytes(r.seed, words), maphash.String(r.seed, run+"/"+effect), now}
	said := slices.DeleteFunc(r.chats[chat], func(old utterance) bool { return now.Sub(old.at) >= repeatsWithin })
	same := 0
	for _, old := range said {
		if old.effect == u.effect {
			r.chats[chat] = said
			return true
		}
		if old.words == u.words {
			same++
		}
	}
	allowed := same < maxRepeats
	if allowed {
		said = append(said, u)
	}
	if len(said) > repeatsKept {
		said = slices.Delete(said, 0, len(said)-repeatsKept)
	}
	r.forget(now)
	r.chats[chat] = said
	return allowed
}

// forget makes room: first of chats in which nothing was said lately.
func (r *repeats) forget(now time.Time) {
	if len(r.chats) < repeatsChats {
		return
	}
	for chat, said := range r.chats {
		if len(said) == 0 || now.Sub(said[len(said)-1].at) >= repeatsWithin {
			delete(r.chats, chat)
		}
	}
	if len(r.chats) >= repeatsChats {
		clear(r.chats)
	}
}
