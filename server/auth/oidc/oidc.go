// Package oidc lets users sign in at an OpenID provider: the authorization code
// flow with PKCE, state and nonce. It says who a user is there, and remembers
// which user here that is; what the user may do, and the session, are for package
// auth.
//
// The provider is asked for its addresses at the first sign-in, and again after
// a failure: the server starts also when the provider is down.
//
//	p := oidc.New(oidc.Config{Issuer: "https://login.example.org", ClientID: "trunkline", RedirectURL: callback})
//	link, flow, err := p.Begin(ctx)          // keep flow in the browser, sealed
//	who, err := p.Finish(ctx, flow, query)   // the browser came back
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// The ways in which a sign-in fails.
var (
	// ErrUnavailable reports a provider that does not answer as one.
	ErrUnavailable = errors.New("oidc: the provider does not answer")
	// ErrFlow reports an answer that does not belong to a sign-in which this
	// browser began, or began too long ago.
	ErrFlow = errors.New("oidc: the sign-in was not begun in this browser, or too long ago")
	// ErrDenied reports that the provider, or its user, has refused.
	ErrDenied = errors.New("oidc: the provider refused the sign-in")
	// ErrToken reports an answer of the provider that cannot be trusted.
	ErrToken = errors.New("oidc: the provider's answer is not valid")
)

// FlowTTL is how long a sign-in may take.
const FlowTTL = 10 * time.Minute

const (
	askTimeout = 10 * time.Second
	maxClaim   = 255 // bytes of a subject, as the specification bounds it
)

// Config names a provider and how it knows us. All but Client and Now are
// required.
type Config struct {
	Issuer       string // as the provider's tokens name it: "https://login.example.org"
	ClientID     string
	ClientSecret string // "": a public client
	RedirectURL  string // where the provider sends browsers back to

	Client *http.Client     // nil: one of its own
	Now    func() time.Time // nil: time.Now
}

// Provider is an OpenID provider. It is safe for concurrent use.
type Provider struct {
	cfg Config

	mu    sync.Mutex
	found *oidc.Provider // nil: not asked yet
}

// New returns a provider, which is not asked anything yet.
func New(cfg Config) *Provider {
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: askTimeout}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Provider{cfg: cfg}
}

// Flow is a sign-in under way. It belongs into the browser that began it, sealed:
// with it the sign-in could be ended elsewhere.
type Flow struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Expires  time.Time `json:"e"`
	User     string    `json:"u,omitempty"` // who connects the identity; "": it is a sign-in
	Session  string    `json:"i,omitempty"` // with which User has begun
}

// Identity is a user of the provider.
type Identity struct {
	Issuer        string
	Subject       string
	Email         string // "": the provider does not say
	EmailVerified bool
	Name          string // "": the provider does not say
}

// Begin returns where to send the browser. It returns [ErrUnavailable].
func (p *Provider) Begin(ctx context.Context) (string, Flow, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", Flow{}, err
	}
	f := Flow{State: random(), Nonce: random(), Verifier: oauth2.GenerateVerifier(), Expires: p.cfg.Now().Add(FlowTTL)}
	link := p.client(found).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier))
	return link, f, nil
}

// Finish says who has signed in, given the query with which the browser came
// back. It returns [ErrFlow], [ErrDenied], [ErrToken] or [ErrUnavailable].
func (p *Provider) Finish(ctx context.Context, f Flow, query url.Values) (Identity, error) {
	if f.State == "" || subtle.ConstantTimeCompare([]byte(f.State), []byte(query.Get("state"))) != 1 || !p.cfg.Now().Before(f.Expires) {
		return Identity{}, ErrFlow
	}
	if query.Get("error") != "" {
		return Identity{}, ErrDenied
	}
	found, err := p.discover(ctx)
	if err != nil {
		return Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, p.cfg.Client)
	tokens, err := p.client(found).Exchange(ctx, query.Get("code"), oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return Identity{}, refused(err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := found.Verifier(&oidc.Config{ClientID: p.cfg.ClientID, Now: p.cfg.Now}).Verify(ctx, raw)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1 {
		return Identity{}, fmt.Errorf("%w: its nonce is another one", ErrToken)
	}
	return p.identity(ctx, found, token, tokens)
}

// refused tells a provider that refuses a code from one that is down.
func refused(err error) error {
	if retrieve, ok := errors.AsType[*oauth2.RetrieveError](err); ok && retrieve.Response.StatusCode < http.StatusInternalServerError {
		return fmt.Errorf("%w: %s", ErrToken, retrieve.ErrorCode)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// claims are what we read of a token, or of the provider's page about the user.
type claims struct {
	Email    string   `json:"email"`
	Verified flexible `json:"email_verified"`
	Name     string   `json:"name"`
}

// flexible is true, also as some providers write it.
type flexible bool

// UnmarshalJSON reads true and "true".
func (f *flexible) UnmarshalJSON(b []byte) error {
	*f = flexible(string(b) == "true" || string(b) == `"true"`)
	return nil
}

// identity reads the claims, and asks for those that the token does not have.
func (p *Provider) identity(ctx context.Context, found *oidc.Provider, token *oidc.IDToken, tokens *oauth2.Token) (Identity, error) {
	var c claims
	if err := token.Claims(&c); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if c.Email == "" && found.UserInfoEndpoint() != "" {
		info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
		if err != nil {
			return Identity{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		if info.Subject != token.Subject {
			return Identity{}, fmt.Errorf("%w: it is about two users", ErrToken)
		}
		if err := info.Claims(&c); err != nil {
			return Identity{}, fmt.Errorf("%w: %w", ErrToken, err)
		}
	}
	if token.Subject == "" || len(token.Subject) > maxClaim {
		return Identity{}, fmt.Errorf("%w: its subject is not one", ErrToken)
	}
	return Identity{Issuer: token.Issuer, Subject: token.Subject, Email: c.Email, EmailVerified: bool(c.Verified), Name: c.Name}, nil
}

// discover asks for the provider's addresses, once it has answered never again.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, p.cfg.Client), askTimeout)
	defer cancel()
	found, err := oidc.NewProvider(ctx, p.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	p.found = found
	return found, nil
}

func (p *Provider) client(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, RedirectURL: p.cfg.RedirectURL,
		Endpoint: found.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
