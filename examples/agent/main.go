// Command agent lets a language model answer the customers of a shop, with two
// tools for looking up orders and opening hours. You type what a customer writes on
// a simulated phone. The model is built in and needs no key, or a real one if the
// environment has a key.
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
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/anthropic"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/sqldb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	db, err := sqldb.Open(ctx, "sqlite://"+filepath.Join(dir, "shop.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the program ends
	models, model, err := chooseModel()
	if err != nil {
		return err
	}
	s, err := server.New(ctx, server.Config{
		DB: db, Secrets: []server.Secret{"a secret of this example, which keeps nothing"},
		Models: models, Functions: shopTools, Exclusive: true, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	phone, err := open(ctx, s, model)
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Run(working) }()
	_, _ = fmt.Fprintf(out, "%s answers. Ask for order A-17, or for our hours.\n", model)
	err = phone.talk(ctx, in, out)
	stop()
	return errors.Join(err, <-done)
}

// chooseModel returns a model for which the environment has a key, or else the
// built-in one.
func chooseModel() (models map[string]llm.Model, name string, err error) {
	if key := os.Getenv("OPENAI_API_KEY"); key != "" {
		m, err := openai.New(&openai.Options{Key: key, BaseURL: os.Getenv("OPENAI_BASE_URL")}) // "": OpenAI's own
		return map[string]llm.Model{"openai": m}, "openai/gpt-5-mini", err
	}
	if key := os.Getenv("ANTHROPIC_API_KEY"); key != "" {
		m, err := anthropic.New(&anthropic.Options{Key: key})
		return map[string]llm.Model{"anthropic": m}, "anthropic/claude-haiku-4-5", err
	}
	return nil, "mock/assistant", nil
}

//go:embed flow.json
var shopFlow string

// phone is the phone of a customer.
type phone struct {
	sandbox.Phone
	line *messaging.Account
}

// open sets up the shop: its account, a reference with simulated phones, and the flow
// that answers there.
func open(ctx context.Context, s *server.Server, model string) (*phone, error) {
	owner, err := s.Auth.SignUp(ctx, auth.NewUser{Email: "ana@example.org", Name: "Ana", Password: "correct horse"})
	if err != nil {
		return nil, err
	}
	account := owner.User.AccountID
	line, err := s.Messaging.For(account).References().Create(ctx, messaging.NewReference{Name: "Shop", Type: sandbox.Kind})
	if err != nil {
		return nil, err
	}
	flows := s.Flows.For(account)
	flow, err := flows.Deploy(ctx, aiflow.Deployment{
		Project: "Shop", Flow: []byte(strings.ReplaceAll(shopFlow, "MODEL", model)),
		By: aiflow.Publisher{User: owner.User.ID}, // the agent acts with the permissions of its publisher
	})
	if err != nil {
		return nil, err
	}
	if _, err := flows.Bindings().Set(ctx, flow.ID, aiflow.Binding{Reference: int64(line.ID), Enabled: true}); err != nil {
		return nil, err
	}
	return &phone{sandbox.Phone{Inbox: s.Messaging, Reference: line.ID, Name: "customer"}, s.Messaging.For(account)}, nil
}

// talk sends each typed line from the phone, and prints the answer.
func (p *phone) talk(ctx context.Context, in io.Reader, out io.Writer) error {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		sent, err := p.Write(ctx, provider.Text{Text: lines.Text()})
		if err != nil {
			return err
		}
		answer, err := p.await(ctx, sent)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(out, ">", answer)
	}
	return nil
}

// await waits until the phone shows the answer to a message.
func (p *phone) await(ctx context.Context, sent string) (string, error) {
	for {
		screen, err := p.line.Screen().List(ctx, p.Reference, p.Name, messaging.List{Limit: 1})
		if err != nil {
			return "", err
		}
		if newest := screen.Items[0]; newest.ID != sent {
			var shown struct{ Text string }
			err := json.Unmarshal(newest.Content, &shown)
			return shown.Text, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
