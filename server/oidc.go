package server

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
