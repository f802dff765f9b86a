package store

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/extractor/entity"
)

const (
	answersTTL = time.Hour
	maxAnswers = 10_000
)

// answers caches the recent answers of models: messages repeat, and a turn that a
// crash interrupted runs again. The cache is only in memory because it holds what
// people wrote.
type answers struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]answer
}

type answer struct {
	matches []entity.Match
	at      time.Time
}

// answerKey identifies a question to a version of an extractor about a text.
func answerKey(c *compiled, said Said, names []string) [sha256.Size]byte {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, c.revision) // writing to a hash never fails
	for _, s := range []string{c.ID, today(said.Now), strings.Join(names, "\x00"), said.Text} {
		_ = binary.Write(h, binary.BigEndian, int64(len(s)))
		h.Write([]byte(s))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func (a *answers) get(key [sha256.Size]byte) ([]entity.Match, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known, ok := a.known[key]
	return known.matches, ok && time.Since(known.at) < answersTTL
}

func (a *answers) add(key [sha256.Size]byte, matches []entity.Match) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil || len(a.known) >= maxAnswers {
		a.known = map[[sha256.Size]byte]answer{}
	}
	a.known[key] = answer{matches, time.Now()}
}
