package template

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// ErrNoCopy says that a reference's templates were never fetched.
var ErrNoCopy = errors.New("messaging: no copy of the templates")

// Fits reports the first parameter of a send that a template lacks or does not
// ask for, as an [*payload.Invalid].
func (r *Row) Fits(call provider.TemplateCall) error {
	fill, err := fillings(call)
	if err != nil {
		return err
	}
	f := fitting{shape: r.shape()}
	f.parts(f.shape.parts, fill, "message.template.components")
	if f.broken != nil {
		return f.broken
	}
	return nil
}

// fitting collects the first thing that does not fit.
type fitting struct {
	shape  templateShape
	broken *payload.Invalid
}

func (f *fitting) fail(field, format string, args ...any) {
	if f.broken == nil {
		f.broken = &payload.Invalid{Field: field, Message: fmt.Sprintf(format, args...)}
	}
}

// parts holds the fillings of a template, or of a card, against its parts.
func (f *fitting) parts(parts []templatePart, fill []filling, at string) {
	used := map[string]bool{}
	for i := range fill {
		c := &fill[i]
		key := strings.ToLower(c.Type)
		if c.is("button") {
			key += " " + c.index()
		}
		if used[key] {
			f.fail(c.at, "is given twice")
		}
		used[key] = true
		f.wanted(parts, c)
	}
	for i := range parts {
		f.part(&parts[i], fill, at)
	}
}

// wanted refuses a filling of a part that the template lacks.
func (f *fitting) wanted(parts []templatePart, c *filling) {
	kind := strings.ToLower(c.Type)
	switch kind {
	case "header", "body", "carousel", "limited_time_offer":
	case "button":
		kind = "buttons"
	default:
		f.fail(c.at+".type", "must be header, body, button, carousel or limited_time_offer")
		return
	}
	if !slices.ContainsFunc(parts, func(p templatePart) bool { return p.is(kind) }) {
		f.fail(c.at+".type", "must be a part of the template, which has no %s", kind)
	}
}

// part holds the fillings of one part against it.
func (f *fitting) part(p *templatePart, fill []filling, at string) {
	c := one(fill, func(c *filling) bool { return c.is(p.Type) })
	switch {
	case p.is("HEADER"):
		f.header(p, c, at)
	case p.is("BODY"):
		names := variables(p.Text)
		if p.Text == "" && f.shape.category == "AUTHENTICATION" {
			names = []string{"1"} // the text is the network's, and says the code
		}
		f.texts("body", names, c, at)
	case p.is("BUTTONS"):
		f.buttons(p, fill, at)
	case p.is("CAROUSEL"):
		f.cards(p, c, at)
	case p.is("LIMITED_TIME_OFFER"):
		if p.Offer != nil && p.Offer.Expiration && (c == nil || len(c.Parameters) == 0) {
			f.fail(at, "must have a limited_time_offer with its end")
		}
	}
}

func one(fill []filling, is func(*filling) bool) *filling {
	for i := range fill {
		if is(&fill[i]) {
			return &fill[i]
		}
	}
	return nil
}

// header takes the values of a text, or one file or place.
func (f *fitting) header(p *templatePart, c *filling, at string) {
	kind := strings.ToLower(p.Format)
	switch kind {
	case "", "text":
		f.texts("header", variables(p.Text), c, at)
		return
	case "gif":
		kind = "video"
	}
	switch {
	case c == nil:
		f.fail(at, "must have a header with a parameter of type %s", kind)
	case len(c.Parameters) != 1:
		f.fail(c.at+".parameters", "must have one parameter of type %s", kind)
	case !strings.EqualFold(c.Parameters[0].Type, kind) && !strings.EqualFold(c.Parameters[0].Type, p.Format):
		f.fail(c.at+".parameters[0].type", "must be %s", kind)
	}
}

// texts holds the values of a text against its variables.
func (f *fitting) texts(part string, names []string, c *filling, at string) {
	if c == nil {
		if len(names) > 0 {
			f.fail(at, "must have a %s with the parameters %s", part, braced(names))
		}
		return
	}
	for i, p := range c.Parameters {
		switch strings.ToLower(p.Type) {
		case "text", "currency", "date_time":
		default:
			f.fail(render.Indexed(c.at+".parameters", i)+".type", "must be text, currency or date_time")
		}
	}
	if f.shape.named && len(names) > 0 {
		f.namedTexts(names, c)
		return
	}
	if len(c.Parameters) < len(names) {
		f.fail(render.Indexed(c.at+".parameters", len(c.Parameters)), "is missing: the %s has the parameters %s", part, braced(names))
	}
	if len(c.Parameters) > len(names) {
		f.fail(render.Indexed(c.at+".parameters", len(names)), "is too many: the %s has %d", part, len(names))
	}
}

func (f *fitting) namedTexts(names []string, c *filling) {
	have := map[string]bool{}
	for i, p := range c.Parameters {
		at := render.Indexed(c.at+".parameters", i) + ".parameter_name"
		switch {
		case !slices.Contains(names, p.Name):
			f.fail(at, "must be one of %s", strings.Join(names, ", "))
		case have[p.Name]:
			f.fail(at, "is given twice")
		}
		have[p.Name] = true
	}
	for _, n := range names {
		if !have[n] {
			f.fail(c.at+".parameters", "must have one with the parameter_name %s", n)
		}
	}
}

// buttons holds the fillings of buttons, by their place, against them.
func (f *fitting) buttons(p *templatePart, fill []filling, at string) {
	for i := range fill {
		c := &fill[i]
		if !c.is("button") {
			continue
		}
		if n, err := strconv.Atoi(c.index()); err != nil || n < 0 || n >= len(p.Buttons) {
			f.fail(c.at+".index", "must be the index of a button: 0 to %d", len(p.Buttons)-1)
		}
	}
	for i := range p.Buttons {
		place := strconv.Itoa(i)
		f.button(&p.Buttons[i], i, one(fill, func(c *filling) bool { return c.is("button") && c.index() == place }), at)
	}
}

// buttonKinds are the sub_types that fill a type of button, and whether it
// must be filled.
var buttonKinds = map[string]struct {
	sub  string
	must bool
}{
	"COPY_CODE": {"copy_code", true}, "OTP": {"url", true}, "MPM": {"mpm", true}, "SPM": {"spm", false},
	"QUICK_REPLY": {"quick_reply", false}, "FLOW": {"flow", false}, "CATALOG": {"catalog", false},
}

func (f *fitting) button(b *templateButton, place int, c *filling, at string) {
	if b.is("URL") {
		f.link(b, place, c, at)
		return
	}
	kind, known := buttonKinds[strings.ToUpper(b.Type)]
	switch {
	case !known: // what it takes, the network knows
	case c == nil && kind.must:
		f.fail(at, "must have a button with the sub_type %s and the index %d", kind.sub, place)
	case c == nil:
	case !strings.EqualFold(c.SubType, kind.sub):
		f.fail(c.at+".sub_type", "must be %s", kind.sub)
	case kind.must && len(c.Parameters) != 1:
		f.fail(c.at+".parameters", "must have one")
	}
}

// link is for a button whose address may end with a variable.
func (f *fitting) link(b *templateButton, place int, c *filling, at string) {
	n := len(variables(b.URL))
	switch {
	case c == nil && n > 0:
		f.fail(at, "must have a button with the sub_type url, the index %d and a parameter", place)
	case c == nil:
	case !strings.EqualFold(c.SubType, "url"):
		f.fail(c.at+".sub_type", "must be url")
	case len(c.Parameters) < n:
		f.fail(c.at+".parameters[0]", "is missing: the end of the button's address")
	case len(c.Parameters) > n:
		f.fail(render.Indexed(c.at+".parameters", n), "is too many: the button has %d", n)
	}
}

// cards holds the cards of a carousel, by their index, against those of the
// template.
func (f *fitting) cards(p *templatePart, c *filling, at string) {
	given := map[int][]filling{}
	if c != nil {
		at = c.at + ".cards"
		for i, card := range c.Cards {
			n := i
			if card.Index != nil {
				n = *card.Index
			}
			if n < 0 || n >= len(p.Cards) {
				f.fail(render.Indexed(at, i)+".card_index", "must be 0 to %d", len(p.Cards)-1)
			}
			for j := range card.Components {
				card.Components[j].at = render.Indexed(render.Indexed(at, i)+".components", j)
			}
			given[n] = card.Components
		}
	}
	for i := range p.Cards {
		f.parts(p.Cards[i].Components, given[i], at)
	}
}

func braced(names []string) string { return "{{" + strings.Join(names, "}}, {{") + "}}" }
