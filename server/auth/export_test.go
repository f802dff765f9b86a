package auth

// MaxVerified is for tests.
const MaxVerified = maxVerified

// VerifiedTokens returns how many tokens a service remembers.
func (s *Service) VerifiedTokens() int {
	v := s.sessions.tokens.verified
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.claims)
}
