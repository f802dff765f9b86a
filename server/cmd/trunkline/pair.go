package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	// pairPoll is the interval of polling the session: a code is shown for at least
	// twenty seconds.
	pairPoll = 500 * time.Millisecond
	// pairTimeout is the timeout of one request.
	pairTimeout = 30 * time.Second
	// maxAnswer limits the size of an answer.
	maxAnswer = 1 << 20
)

// pairCommand links a reference to a phone. It is a client of the API of a running
// server, on this machine or another.
type pairCommand struct {
	Server    string `placeholder:"URL" default:"http://localhost:3000" help:"Address of the server (default ${default})."`
	Reference int64  `required:"" placeholder:"N" help:"Id of the reference, which has the type provider-web."`
	Token     string `placeholder:"TOKEN" help:"A token that may manage sessions."`
	Email     string `placeholder:"E-MAIL" help:"Instead of a token: log in. The password is TRUNKLINE_PASSWORD, or the first line of standard input."`
	Phone     string `placeholder:"NUMBER" help:"Link by a code that is typed on the phone with this number, instead of a QR code."`
}

// run shows codes until the reference is connected.
func (p pairCommand) run(ctx context.Context, _ flags, to streams) error {
	c := &checker{}
	c.environment(os.Environ())
	api := client{base: strings.TrimRight(c.webURL("server", p.Server), "/"), token: c.secret("token", p.Token)}
	if c.err != nil {
		return c.err
	}
	if err := p.logIn(ctx, &api, to.in); err != nil {
		return err
	}
	ask := map[string]any{"reference": p.Reference, "method": "qr"}
	if p.Phone != "" {
		ask["method"], ask["phone"] = "code", p.Phone
	}
	var s session
	if err := api.call(ctx, http.MethodPost, "/reference/session/start", ask, &s); err != nil {
		return err
	}
	screen := newScreen(to.out)
	tick := time.NewTicker(pairPoll)
	defer tick.Stop()
	for {
		over, err := s.show(screen)
		if over || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.New("interrupted: the phone can link the reference until its code expires")
		}
		s = session{}
		if err := api.call(ctx, http.MethodGet, fmt.Sprintf("/reference/session/status?reference=%d", p.Reference), nil, &s); err != nil {
			return err
		}
	}
}

// logIn gets a token, unless one is given.
func (p pairCommand) logIn(ctx context.Context, api *client, stdin io.Reader) error {
	if api.token != "" {
		return nil
	}
	if p.Email == "" {
		return &settingError{"--token", "or --email is required"}
	}
	password := os.Getenv(passwordVariable)
	if password == "" {
		line, err := bufio.NewReader(stdin).ReadString('\n')
		if password = strings.TrimRight(line, "\r\n"); password == "" {
			return &settingError{passwordVariable, "or the first line of standard input must be the password: " + cause(cmp.Or(err, io.EOF))}
		}
	}
	var in struct{ Token string }
	err := api.call(ctx, http.MethodPost, "/user/login", map[string]any{"email": p.Email, "password": password}, &in)
	api.token = in.Token
	return err
}

// session is a session in the API.
type session struct {
	State       string
	QR          *struct{ Code string }
	PairingCode *string
	Account     *struct{ ID, Name string }
	LastError   *struct{ Message string }
	Passkey     *struct{ Code *string }
}

// show shows a person what to do, and reports whether everything is done.
func (s session) show(to *screen) (over bool, err error) {
	switch s.State {
	case "CONNECTED":
		who := ""
		if s.Account != nil {
			who = ": " + strings.TrimSpace(s.Account.ID+" "+s.Account.Name)
		}
		to.say("Connected" + who)
		return true, nil
	case "FAILED", "LOGGED_OUT", "STOPPED":
		why := "its session is " + s.State
		if s.LastError != nil {
			why = s.LastError.Message
		}
		return true, errors.New("the reference was not linked: " + why)
	}
	const route, guide = "POST /reference/session/passkey", "docs/whatsapp-web.md, Accounts with a passkey"
	switch {
	case s.Passkey != nil && s.Passkey.Code != nil:
		to.say("Does the phone show the code " + *s.Passkey.Code + "? Then confirm it with " + route + " (" + guide + ")")
	case s.Passkey != nil:
		to.say("WhatsApp asks for the passkey of the account. Answer within five minutes with " + route + " (" + guide + ")")
	case s.PairingCode != nil:
		to.say("On the phone: WhatsApp > Linked devices > Link a device > Link with phone number instead. The code: " + *s.PairingCode)
	case s.QR != nil:
		err = to.draw(s.QR.Code)
	}
	return false, err
}

// client is a client of the API of a server.
type client struct{ base, token string }

// call makes a request. If the server refuses it, the error has the server's text.
func (c *client) call(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, pairTimeout)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return &settingError{"--server", cause(err)}
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("asking the server: %w", err)
	}
	defer res.Body.Close()
	text, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("reading the server's answer: %w", err)
	}
	if res.StatusCode >= http.StatusBadRequest {
		return refusal(res.StatusCode, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("the answer is not from a trunkline: %w", err)
	}
	return nil
}

// refusal returns the error for an answer with an error status.
func refusal(status int, text []byte) error {
	var p struct {
		Detail string
		Errors []struct{ Location, Message string }
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Detail == "" {
		return fmt.Errorf("the server answered %d", status)
	}
	why := p.Detail
	for _, e := range p.Errors {
		why += " " + strings.TrimPrefix(e.Location, "body.") + ": " + e.Message
	}
	return fmt.Errorf("the server answered %d: %s", status, why)
}
