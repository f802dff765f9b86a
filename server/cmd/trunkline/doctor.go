package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/jmoiron/sqlx"
)

// doctorCommand checks everything that a server needs, and changes nothing.
type doctorCommand struct {
	JSON  bool `name:"json" help:"A JSON object instead of lines."`
	Files bool `name:"files" help:"Also read all files of messages, and compare them with what was stored."`
}

// The states of a finding.
const (
	stateOK   = "ok"
	stateWarn = "warn" // it works, but not as well as it should
	stateBad  = "bad"  // it does not work, or will soon fail
)

// finding is the result of one check.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"`
	Text  string `json:"text"`
	Cure  string `json:"cure,omitempty"`
}

// doctor collects findings.
type doctor struct {
	set      settings
	now      func() time.Time
	files    bool     // read all files of messages
	db       *sqlx.DB // nil: it cannot be reached
	secrets  []string // of the database; nil: unknown
	findings []finding
}

func (d *doctor) ok(check, format string, args ...any) {
	d.findings = append(d.findings, finding{check, stateOK, fmt.Sprintf(format, args...), ""})
}

func (d *doctor) warn(check, text, cure string) {
	d.findings = append(d.findings, finding{check, stateWarn, text, cure})
}

func (d *doctor) bad(check, text, cure string) {
	d.findings = append(d.findings, finding{check, stateBad, text, cure})
}

func (c doctorCommand) run(ctx context.Context, f flags, to streams) error {
	d := &doctor{now: time.Now, files: c.Files}
	var err error
	if d.set, err = f.settings(); err != nil {
		d.bad("settings", oneLine(err.Error()), "correct it; trunkline --help lists all settings")
	} else {
		d.ok("settings", "all can be read")
		d.examine(ctx)
	}
	if err := d.print(to.out, c.JSON); err != nil {
		return err
	}
	for _, f := range d.findings {
		if f.State == stateBad {
			return errPrinted
		}
	}
	return nil
}

// examine makes all checks, in the order in which a server needs things.
func (d *doctor) examine(ctx context.Context) {
	d.program()
	d.folder()
	d.media(ctx)
	d.private()
	d.database(ctx)
	if d.db != nil {
		defer closeSoon(d.db)
		if d.tables(ctx) {
			d.written(ctx)
			d.content(ctx)
			d.stored(ctx)
			d.secret(ctx)
			d.references(ctx)
			d.webhooks(ctx)
			d.proxies(ctx)
		}
	}
	d.models(ctx)
	d.mail(ctx)
	d.certificate()
	d.metrics(ctx)
	d.address(ctx)
}

// print prints the findings.
func (d *doctor) print(w io.Writer, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"version": programVersion(), "findings": d.findings})
	}
	for _, f := range d.findings {
		if _, err := fmt.Fprintf(w, "%-4s  %-10s  %s\n", f.State, f.Check, f.Text); err != nil {
			return err
		}
		if f.Cure != "" {
			if _, err := fmt.Fprintf(w, "%18s-> %s\n", "", f.Cure); err != nil {
				return err
			}
		}
	}
	return nil
}
