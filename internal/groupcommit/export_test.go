package groupcommit

// Waiting returns how many calls no batch has taken.
func (g *Group[T]) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue)
}
