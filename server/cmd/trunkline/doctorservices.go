package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/server/mail"
)

// models asks the model servers for their models.
func (d *doctor) models(ctx context.Context) {
	const check = "models"
	byProvider, err := d.set.models()
	if err != nil {
		d.bad(check, oneLine(err.Error()), "correct the address")
		return
	}
	models, err := llm.NewModels(byProvider)
	if err != nil {
		return // the names are built in
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	for _, o := range models.List(ctx) {
		if o.Err != nil {
			d.bad(check, o.Provider+" does not list its models: "+oneLine(o.Err.Error()), fmt.Sprintf("correct --%[1]s-url or --%[1]s-key", o.Provider))
			continue
		}
		d.ok(check, "%s has %d", o.Provider, len(o.Items))
		for _, m := range []struct{ flag, ref string }{{"--model", d.set.Server.Model}, {"--embedding-model", d.set.Server.EmbeddingModel}} {
			of, name, _ := strings.Cut(m.ref, "/")
			if of == o.Provider && !slices.ContainsFunc(o.Items, func(m llm.Offer) bool { return m.Name == name }) {
				d.warn(check, o.Provider+" does not list "+name, "set another "+m.flag)
			}
		}
	}
}

// mail logs in to the mail server without sending anything.
func (d *doctor) mail(ctx context.Context) {
	const check = "mail"
	if d.set.Server.SMTPURL == "" {
		return
	}
	sender, err := mail.New(string(d.set.Server.SMTPURL), &mail.Options{From: "trunkline@localhost"})
	if err != nil {
		return // it was checked before
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := sender.Reach(ctx); err != nil {
		d.bad(check, oneLine(err.Error()), "correct the address, the user or the password in --smtp-url")
		return
	}
	d.ok(check, "the login succeeded")
}
