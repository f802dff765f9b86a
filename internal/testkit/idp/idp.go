// Package idp runs a certified OpenID provider for tests. Its users sign in without
// interaction.
package idp

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The registered client.
const (
	ClientID     = "trunkline"
	ClientSecret = "the secret of the client"
)

// User is a user of the provider.
type User struct {
	Subject, Email, Name string
	Verified             bool
}

// Provider is a provider at which one user is logged in.
type Provider struct {
	Issuer string

	*storage.Storage
	mu    sync.Mutex
	user  User
	key   signingKey
	nonce string // replaces that of the request; "": it does not
	stop  bool
}

// New starts a provider with one client.
func New(t *testing.T, redirect string) *Provider {
	t.Helper()
	p := &Provider{}
	p.Rotate(t)
	client := storage.WebClient(ClientID, ClientSecret, redirect)
	p.Storage = storage.NewStorageWithClients(p, map[string]*storage.Client{ClientID: client})
	mux := http.NewServeMux()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.down() {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	p.Issuer = srv.URL
	provider, err := op.NewProvider(&op.Config{CryptoKey: sha256.Sum256([]byte("test")), CodeMethodS256: true}, p, op.StaticIssuer(srv.URL), op.WithAllowInsecure())
	require.NoError(t, err)
	callback := op.AuthCallbackURL(provider)
	login := op.NewIssuerInterceptor(provider.IssuerFromRequest).HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.FormValue("authRequestID")
		if err := p.CheckUsernamePassword("", "", id); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		http.Redirect(w, r, callback(r.Context(), id), http.StatusFound)
	})
	mux.Handle("/login/username", login)
	mux.Handle("/", provider)
	return p
}

// LogIn makes u the user of the browser.
func (p *Provider) LogIn(u User) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.user = u
}

// Nonce makes tokens contain another nonce; "" ends that.
func (p *Provider) Nonce(n string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nonce = n
}

// Stop makes the provider unavailable, or ends that.
func (p *Provider) Stop(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop = down
}

func (p *Provider) down() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stop
}

// Rotate replaces the key that signs tokens.
func (p *Provider) Rotate(t *testing.T) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = signingKey{uuid.NewString(), key}
}

// Authorize follows a link to the provider as a browser does, and returns the query
// of the redirect back.
func (p *Provider) Authorize(t *testing.T, link string) url.Values {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for range 5 {
		res, err := client.Get(link)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusFound, res.StatusCode, link)
		at, err := res.Location()
		require.NoError(t, err)
		if "http://"+at.Host != p.Issuer {
			return at.Query()
		}
		link = at.String()
	}
	require.FailNow(t, "the provider sends the browser nowhere")
	return nil
}

// CreateAuthRequest implements op.Storage.
func (p *Provider) CreateAuthRequest(ctx context.Context, r *oidc.AuthRequest, user string) (op.AuthRequest, error) {
	p.mu.Lock()
	if p.nonce != "" {
		r.Nonce = p.nonce
	}
	p.mu.Unlock()
	return p.Storage.CreateAuthRequest(ctx, r, user)
}

// SigningKey implements op.Storage.
func (p *Provider) SigningKey(context.Context) (op.SigningKey, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key, nil
}

// KeySet implements op.Storage.
func (p *Provider) KeySet(context.Context) ([]op.Key, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return []op.Key{publicKey{p.key}}, nil
}

// GetUserByID implements storage.UserStore.
func (p *Provider) GetUserByID(string) *storage.User { return p.GetUserByUsername("") }

// GetUserByUsername implements storage.UserStore.
func (p *Provider) GetUserByUsername(string) *storage.User {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &storage.User{ID: p.user.Subject, FirstName: p.user.Name, Email: p.user.Email, EmailVerified: p.user.Verified}
}

// ExampleClientID implements storage.UserStore.
func (p *Provider) ExampleClientID() string { return "service" }

type signingKey struct {
	id  string
	key *rsa.PrivateKey
}

func (k signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k signingKey) Key() any                                    { return k.key }
func (k signingKey) ID() string                                  { return k.id }

type publicKey struct{ signingKey }

func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k publicKey) Use() string                        { return "sig" }
func (k publicKey) Key() any                           { return &k.key.PublicKey }
