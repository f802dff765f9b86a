package groupcommit

// Waiting returns how many calls no batch has taken.
func (g *Group[T]) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue)
}

// Waiting returns how many reads wait for others.
func (r *Reads[K, V]) Waiting() int { return r.group.Waiting() }
