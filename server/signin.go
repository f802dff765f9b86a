package server

import (
	"github.com/trunklinehq/trunkline/server/auth/oidc"
	"github.com/trunklinehq/trunkline/server/internal/api/users"
)

// OIDC is an OpenID provider at which users sign in.
type OIDC struct {
	// Issuer is the provider's address, as its tokens name it. "": there is none.
	Issuer string
	// ClientID and ClientSecret are what the provider knows this server by. Tell
	// it the address {BaseURL}/user/oidc/callback. ClientSecret "": a public
	// client.
	ClientID     string
	ClientSecret Secret
	// Name is what users know the provider by. "": Single sign-on.
	Name string
}

// openOIDC makes the provider, which is asked nothing yet.
func (s *Server) openOIDC() {
	if c := s.cfg.OIDC; c.Issuer != "" {
		s.oidc = oidc.New(oidc.Config{
			Issuer: c.Issuer, ClientID: c.ClientID, ClientSecret: string(c.ClientSecret),
			RedirectURL: s.cfg.BaseURL + users.OIDCCallbackPath, Now: s.cfg.ownClock,
		})
	}
}
