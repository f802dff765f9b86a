package server

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/server/auth"
)

// userRoutes are sign-up, login and the caller himself.
func (s *Server) userRoutes(a *api) {
	register(a, operation{
		id: "Auth_SignUp", method: http.MethodPost, path: "/user/signup", status: http.StatusCreated,
		summary: "Sign up", about: "Makes an account and its first user, who has every permission.",
		errors: []int{http.StatusForbidden, http.StatusConflict}, limited: true,
	}, anyone, s.signUp)
	register(a, operation{
		id: "Auth_Login", method: http.MethodPost, path: "/user/login",
		summary: "Log in", about: "The token is valid for 12 hours. Ten failures in 15 minutes close the address for the rest of them.",
		errors: []int{http.StatusUnauthorized}, limited: true,
	}, anyone, s.login)
	register(a, operation{
		id: "Auth_User", method: http.MethodGet, path: "/user/me", summary: "Who the token belongs to",
	}, anyUser, s.me)
}

type userView struct {
	ID          string            `json:"id"`
	AccountID   string            `json:"accountId"`
	Email       string            `json:"email"`
	Name        string            `json:"name"`
	Permissions []auth.Permission `json:"permissions" nullable:"false"`
	CreatedAt   int64             `json:"createdAt" doc:"UNIX seconds"`
}

type sessionView struct {
	Token     string   `json:"token" doc:"A JWT for the Authorization header."`
	ExpiresAt int64    `json:"expiresAt" doc:"UNIX seconds"`
	User      userView `json:"user"`
}

type signUpBody struct {
	Email    string `json:"email" format:"email" maxLength:"254"`
	Password string `json:"password" minLength:"10" maxLength:"1000"`
	Name     string `json:"name" minLength:"1" maxLength:"200"`
}

type loginBody struct {
	Email    string `json:"email" format:"email" maxLength:"254"`
	Password string `json:"password" minLength:"1" maxLength:"1000"`
}

func (s *Server) signUp(ctx context.Context, _ call, in *struct{ Body signUpBody }) (sessionView, error) {
	session, err := s.Auth.SignUp(ctx, auth.NewUser{Email: in.Body.Email, Name: in.Body.Name, Password: in.Body.Password})
	return viewSession(session), err
}

func (s *Server) login(ctx context.Context, c call, in *struct{ Body loginBody }) (sessionView, error) {
	session, err := s.Auth.Login(ctx, auth.Credentials{Email: in.Body.Email, Password: in.Body.Password, Address: c.Client})
	return viewSession(session), err
}

func (s *Server) me(ctx context.Context, c call, _ *struct{}) (userView, error) {
	u, err := s.Auth.User(ctx, c.Account, c.User)
	return viewUser(u), err
}

func viewUser(u auth.User) userView {
	return userView{
		ID: u.ID, AccountID: u.AccountID, Email: u.Email, Name: u.Name,
		Permissions: u.Permissions, CreatedAt: u.CreatedAt.Unix(),
	}
}

func viewSession(s auth.Session) sessionView {
	return sessionView{Token: s.Token, ExpiresAt: s.ExpiresAt.Unix(), User: viewUser(s.User)}
}
