package guard

// Below puts a recorder, or a wall, between the check and the network.
func (g *Guard) Below(dial func(address string) error) { g.below = dial }
