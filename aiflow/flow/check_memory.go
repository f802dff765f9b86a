package flow

import "sync"

// Limits of what is kept compiled.
const (
	keptDocuments   = 256
	keptBytes       = 16 << 20 // of documents; compiled they take several times that
	keptExpressions = 4096
)

// memory keeps what documents compiled to, by their hash. Which of them go
// when it is full is left to chance: all are cheap to make again.
type memory struct {
	mu    sync.Mutex
	kept  map[string]*compiled
	bytes int
}

func (m *memory) get(hash string) *compiled {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[hash]
}

func (m *memory) put(hash string, c *compiled) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]*compiled{}
	}
	if m.kept[hash] != nil {
		return
	}
	for old, o := range m.kept {
		if len(m.kept) < keptDocuments && m.bytes+c.size <= keptBytes {
			break
		}
		delete(m.kept, old)
		m.bytes -= o.size
	}
	m.kept[hash] = c
	m.bytes += c.size
}

func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept, m.bytes = nil, 0
}
