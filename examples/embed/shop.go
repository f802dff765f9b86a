package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"os"

	"github.com/gorilla/mux"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
)

// shop is the existing program.
type shop struct {
	messages *messaging.Account
	line     provider.ReferenceID
}

// ship notifies the customer of an order that it is on its way. If the button is
// pressed twice it notifies once.
func (s *shop) ship(w http.ResponseWriter, r *http.Request) {
	id := mux.Vars(r)["id"]
	_, err := s.messages.Send(r.Context(), messaging.SendRequest{
		Reference: s.line, ChatID: r.FormValue("customer"), Content: provider.Text{Text: "Order " + id + " is on its way."},
		IdempotencyKey: "shipped-" + id,
	})
	refusal, refused := messaging.Refused(err)
	switch {
	case refused:
		http.Error(w, refusal.Message+": "+refusal.Field+" "+refusal.Why, http.StatusUnprocessableEntity)
	case err != nil:
		http.Error(w, "try again", http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// staffOnly returns the shop's existing authentication.
func staffOnly(password string) mux.MiddlewareFunc {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, given, _ := r.BasicAuth()
			if password == "" || subtle.ConstantTimeCompare([]byte(given), []byte(password)) == 0 {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// open creates the shop's account and reference in the engine, or finds those of an
// earlier run.
func open(ctx context.Context, chat *server.Server, kind provider.Kind) (account string, line provider.ReferenceID, err error) {
	owner := auth.NewUser{Email: "shop@example.org", Name: "Shop", Password: os.Getenv("SHOP_PASSWORD")}
	session, err := chat.Auth.SignUp(ctx, owner)
	if errors.Is(err, auth.ErrEmailTaken) {
		session, err = chat.Auth.Login(ctx, auth.Credentials{Email: owner.Email, Password: owner.Password})
	}
	if err != nil {
		return "", 0, err
	}
	account = session.User.AccountID
	lines, err := chat.Messaging.For(account).References().List(ctx, kind, messaging.List{})
	if err != nil {
		return "", 0, err
	}
	if len(lines.Items) > 0 {
		return account, lines.Items[0].ID, nil
	}
	made, err := chat.Messaging.For(account).References().Create(ctx, messaging.NewReference{Name: "Shop", Type: kind})
	return account, made.ID, err
}
