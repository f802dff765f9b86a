// Phones is a fake WhatsApp Web with phones, for walks through the panel: they
// scan what a browser shows. It prints the settings that point a server at it,
// then does what it is told, one JSON object per line, and answers each with
// another. It ends with its input. See package webtest.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/trunklinehq/trunkline/provider/web/webtest"
)

// timeout bounds every order.
const timeout = 30 * time.Second

// order is what a walk tells the phones.
type order struct {
	Do      string `json:"do"`      // phone, scan, type, sign, write, vote, unlink
	Phone   string `json:"phone"`   // the number of who does it
	Name    string `json:"name"`    // of a new phone
	Passkey bool   `json:"passkey"` // a new phone asks for one
	Code    string `json:"code"`    // what the QR code says, what is typed, or the challenge to be signed
	Text    string `json:"text"`
	To      string `json:"to"` // the number of another phone
}

// answer is what came of an order.
type answer struct {
	Environ []string `json:"environ,omitempty"` // the first answer
	Phone   string   `json:"phone,omitempty"`   // the number of a new phone
	Signed  string   `json:"signed,omitempty"`  // the answer of its passkey
	Error   string   `json:"error,omitempty"`
}

// phones are those of a network, by number.
type phones struct {
	fake    *webtest.Server
	known   map[string]*webtest.Phone
	devices map[string]*webtest.Device // what each has linked last
}

func main() {
	fake := webtest.Start(&webtest.Options{Logger: slog.New(slog.DiscardHandler)})
	defer fake.Close()
	p := &phones{fake: fake, known: map[string]*webtest.Phone{}, devices: map[string]*webtest.Device{}}
	out := json.NewEncoder(os.Stdout)
	err := out.Encode(&answer{Environ: fake.Environ()})
	for in := bufio.NewScanner(os.Stdin); err == nil && in.Scan(); {
		var o order
		a := &answer{}
		if wrong := json.Unmarshal(in.Bytes(), &o); wrong != nil {
			a.Error = wrong.Error()
		} else if wrong = p.do(&o, a); wrong != nil {
			a.Error = wrong.Error()
		}
		err = out.Encode(a)
	}
}

// do obeys, and writes what came of it.
func (p *phones) do(o *order, a *answer) error {
	if o.Do == "phone" {
		phone := p.fake.AddPhone(&webtest.PhoneOptions{Name: o.Name, Passkey: o.Passkey})
		a.Phone = phone.JID().User
		p.known[a.Phone] = phone
		return nil
	}
	phone := p.known[o.Phone]
	if phone == nil {
		return fmt.Errorf("there is no phone %q", o.Phone)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	switch o.Do {
	case "scan":
		if phone.Passkey() != nil { // the walk answers for the passkey meanwhile
			go func() { _, _ = phone.Scan(context.Background(), o.Code) }()
			return nil
		}
		return p.link(ctx, phone, o.Code, phone.Scan)
	case "sign":
		a.Signed = string(phone.Passkey().Sign(o.Code))
		return nil
	case "type":
		return p.link(ctx, phone, o.Code, phone.EnterCode)
	case "write":
		return p.write(ctx, phone, o)
	case "vote":
		return vote(ctx, phone, o.Text)
	case "unlink":
		device := p.devices[o.Phone]
		if device == nil {
			return fmt.Errorf("the phone %q has linked nothing", o.Phone)
		}
		device.Remove()
		return nil
	default:
		return fmt.Errorf("unknown order %q", o.Do)
	}
}

// link makes a phone link a device in one of the two ways.
func (p *phones) link(ctx context.Context, phone *webtest.Phone, code string, way func(context.Context, string) (*webtest.Device, error)) error {
	device, err := way(ctx, code)
	if err != nil {
		return err
	}
	p.devices[phone.JID().User] = device
	return device.AwaitActive(ctx)
}

func (p *phones) write(ctx context.Context, phone *webtest.Phone, o *order) error {
	to := p.known[o.To]
	if to == nil {
		return fmt.Errorf("there is no phone %q", o.To)
	}
	_, err := phone.SendText(ctx, to.LID(), o.Text)
	return err
}

// vote waits for a poll, and votes in it.
func vote(ctx context.Context, phone *webtest.Phone, option string) error {
	poll, err := phone.Await(ctx, func(m *webtest.Message) bool { return m.Content.GetPollCreationMessage() != nil })
	if err != nil {
		return err
	}
	_, err = phone.Polls().Vote(ctx, poll, option)
	return err
}
