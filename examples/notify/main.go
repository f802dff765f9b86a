// Command notify is a service that notifies customers with templates of a WhatsApp
// number. Each notification has an id. It is sent once, however often it is
// requested.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:4000", "listening address")
	database := flag.String("db", "sqlite://notify.db", "database")
	graphURL := flag.String("graph", "", "another Graph API than Meta's, for tests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *addr, *database, *graphURL)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "notify:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, database, graphURL string) error {
	db, err := sqldb.Open(ctx, database)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	chats, err := messaging.New(ctx, db, &messaging.Options{
		Providers: []provider.Provider{cloud.New(&cloud.Options{GraphURL: graphURL})},
		Secrets:   []string{os.Getenv("APP_SECRET")}, // seals the stored token
		Exclusive: true,
	})
	if err != nil {
		return err
	}
	n := &notifier{acc: chats.For(messaging.OneAccount)}
	if err := n.open(ctx); err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- chats.Run(working) }() // sends, including messages of an earlier run
	web := &http.Server{Addr: addr, Handler: n, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = web.Shutdown(context.WithoutCancel(ctx)) })
	if err = web.ListenAndServe(); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stop()
	return errors.Join(err, <-done)
}

type notifier struct {
	acc  *messaging.Account
	line provider.ReferenceID
}

// open finds the reference of an earlier run, or creates it.
func (n *notifier) open(ctx context.Context) error {
	lines, err := n.acc.References().List(ctx, cloud.Kind, messaging.List{})
	if err != nil {
		return err
	}
	if len(lines.Items) > 0 {
		n.line = lines.Items[0].ID
		return nil
	}
	made, err := n.acc.References().Create(ctx, messaging.NewReference{Name: "Notices", Type: cloud.Kind, Settings: map[string]string{
		"phoneNumberId": os.Getenv("PHONE_NUMBER_ID"), "businessAccountId": os.Getenv("BUSINESS_ACCOUNT_ID"),
		"accessToken": os.Getenv("ACCESS_TOKEN"), "appSecret": os.Getenv("META_APP_SECRET"), "verifyToken": os.Getenv("VERIFY_TOKEN"),
	}})
	if err != nil {
		return err
	}
	n.line = made.ID
	// Fetch the templates now, so that the first notice knows them and wrong
	// settings are found at the start.
	if _, err = n.acc.Templates().List(ctx, n.line, messaging.TemplateFilter{}, messaging.List{}); err != nil {
		return errors.Join(err, n.acc.References().Delete(ctx, n.line))
	}
	return nil
}

// notice is the body of a request.
type notice struct {
	ID       string   `json:"id"` // of the notification: "order-7-shipped"
	To       string   `json:"to"` // phone number
	Template string   `json:"template"`
	Language string   `json:"language"` // "en_US"
	Values   []string `json:"values"`   // of the parameters in the template's body
}

// ServeHTTP sends a notice. It answers with 201 and the message, or with 200 and
// the same message if the notice was sent before.
func (n *notifier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in notice
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&in); err != nil || in.ID == "" {
		http.Error(w, "the body must be a notice with an id", http.StatusBadRequest)
		return
	}
	template, err := in.call()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sent, err := n.acc.Send(r.Context(), messaging.SendRequest{
		Reference: n.line, ChatID: in.To, Content: provider.Template{Template: template},
		IdempotencyKey: in.ID, Wait: messaging.DefaultWait,
	})
	refusal, refused := messaging.Refused(err)
	switch {
	case refused && refusal.Code == messaging.CodeConflict:
		http.Error(w, refusal.Message, http.StatusConflict)
	case refused:
		http.Error(w, refusal.Message+": "+refusal.Field+" "+refusal.Why, http.StatusUnprocessableEntity)
	case err != nil:
		http.Error(w, "try again", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/json")
		if !sent.Replayed {
			w.WriteHeader(http.StatusCreated)
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"message": sent.Message.ID, "status": sent.Message.Status})
	}
}

// call returns the template with its values in Meta's format.
func (in *notice) call() (provider.TemplateCall, error) {
	type parameter struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	call := provider.TemplateCall{Name: in.Template, Language: provider.TemplateLanguage{Code: in.Language}}
	if len(in.Values) == 0 {
		return call, nil
	}
	var values []parameter
	for _, v := range in.Values {
		values = append(values, parameter{"text", v})
	}
	body, err := json.Marshal(map[string]any{"type": "body", "parameters": values})
	call.Components = []json.RawMessage{body}
	return call, err
}
