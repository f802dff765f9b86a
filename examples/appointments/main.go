// Command appointments books appointments. flow.json is the conversation, and
// calendar.go knows the free times. A contact whom the flow does not understand is
// handed over to a person. You type what a customer writes on a simulated phone.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/sqldb"
)

//go:embed flow.json
var talk string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	day := &calendar{times: []string{"9:00", "10:30", "15:00"}, taken: map[string]string{}}
	err := run(ctx, day, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "appointments:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, day *calendar, in io.Reader, out io.Writer) error {
	dir, err := os.MkdirTemp("", "appointments")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "chats.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: day.handler(), ReadHeaderTimeout: 10 * time.Second}
	defer web.Close()                       //nolint:errcheck // the program ends
	go func() { _ = web.Serve(listener) }() // until it is closed

	s, err := server.New(ctx, server.Config{
		DB: db, Secrets: []server.Secret{"a secret of this example, which keeps nothing"},
		WebhookAllow: []string{"127.0.0.1"}, // otherwise flows cannot reach private addresses
		Exclusive:    true, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	p, err := open(ctx, s, "http://"+listener.Addr().String())
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Run(working) }()
	_, _ = fmt.Fprintln(out, `Ask for an appointment: "book"`)
	err = p.talk(ctx, in, out)
	stop()
	return errors.Join(err, <-done)
}

// phone is the phone of a customer.
type phone struct {
	sandbox.Phone
	news *messaging.ChangeStream
}

// open sets up the account, a reference with simulated phones, and the bot.
func open(ctx context.Context, s *server.Server, calendar string) (*phone, error) {
	owner, err := s.Auth.SignUp(ctx, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
	if err != nil {
		return nil, err
	}
	account := owner.User.AccountID
	line, err := s.Messaging.For(account).References().Create(ctx, messaging.NewReference{Name: "Practice", Type: sandbox.Kind})
	if err != nil {
		return nil, err
	}
	bots := s.Bots.For(account)
	bot, err := bots.Bots().Create(ctx, botengine.NewBot{
		Reference: int64(line.ID), Name: "Appointments", Flow: json.RawMessage(strings.ReplaceAll(talk, "CALENDAR", calendar)),
	})
	if err != nil {
		return nil, err
	}
	if _, err := bots.Versions().Publish(ctx, bot.ID); err != nil {
		return nil, err
	}
	news, err := s.Messaging.For(account).Changes(ctx, line.ID, "")
	if err != nil {
		return nil, err
	}
	return &phone{sandbox.Phone{Inbox: s.Messaging, Reference: line.ID, Name: "joe"}, news}, nil
}

// talk sends each typed line from the phone until the input ends. Meanwhile it
// prints what arrives.
func (p *phone) talk(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	written := make(chan error, 1)
	go func() {
		defer stop()
		for lines := bufio.NewScanner(in); lines.Scan(); {
			if _, err := p.Write(ctx, provider.Text{Text: lines.Text()}); err != nil {
				written <- err
				return
			}
		}
	}()
	err := p.show(ctx, out)
	select {
	case failed := <-written:
		return errors.Join(err, failed)
	default:
		return err
	}
}

// show prints the answers, and the notes for the front desk, until ctx ends.
func (p *phone) show(ctx context.Context, out io.Writer) error {
	asked := false
	for {
		entries, err := p.news.Next(ctx, time.Minute)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			var news struct {
				Status, Text string             // of a message
				Handoff      *messaging.Handoff // of a chat
			}
			if err := json.Unmarshal(e.Data, &news); err != nil {
				return err
			}
			switch {
			case e.Kind == "status" && news.Status == "DELIVERED":
				_, _ = fmt.Fprintln(out, ">", news.Text)
			case e.Kind == "chat" && news.Handoff != nil && !asked:
				asked = true
				_, _ = fmt.Fprintf(out, "(%s: %s)\n", news.Handoff.Target, news.Handoff.Note)
			}
		}
	}
}
