package providertest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

var camelCase = regexp.MustCompile(`^[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)?$`)

func description(t *testing.T, f *fixture) {
	p := f.Provider
	require.Regexp(t, `^provider-[a-z]+$`, string(p.Kind()))
	c := p.Capabilities()
	require.Contains(t, c.Send, "text", "every kind sends text")
	sorted := slices.Sorted(slices.Values(c.Send))
	require.Equal(t, sorted, slices.Compact(slices.Clone(sorted)), "a type is named once")
	require.GreaterOrEqual(t, c.Window, time.Duration(0))
	if c.Templates {
		require.Contains(t, c.Send, "template")
	}
	for contentType, limit := range c.Media {
		require.Contains(t, c.Send, contentType, "media that cannot be sent")
		require.Positive(t, limit)
	}
	for tag, ttl := range c.Tags {
		require.NotEmpty(t, tag)
		require.Greater(t, ttl, c.Window, "%s: a tag is for when the window is closed", tag)
	}
	session := f.open(t)
	_, named := session.(provider.Namer)
	require.Equal(t, c.Names, named, "who has no names can ask for them")
	_, types := session.(provider.Typist)
	require.Equal(t, c.Typing, types, "typing can be shown")
	_, rejects := session.(provider.CallRejecter)
	require.Equal(t, c.Calls, rejects, "calls can be rejected")
	_, manages := session.(provider.TemplateManager)
	_, reviews := p.(provider.TemplateReviewer)
	require.Equal(t, c.Templates, manages || reviews, "templates can be managed")
	for i := range c.Send {
		c.Send[i] = "changed"
	}
	require.Contains(t, p.Capabilities().Send, "text", "the answer is the caller's own")
}

func settings(t *testing.T, f *fixture) {
	names := map[string]bool{}
	for _, s := range f.Provider.Settings() {
		require.Regexp(t, camelCase, s.Name)
		require.False(t, names[s.Name], "%s is there twice", s.Name)
		names[s.Name] = true
		require.NotEmpty(t, s.Doc)
		require.True(t, strings.HasSuffix(s.Doc, "."), "%s: the doc is a sentence", s.Name)
		if !s.Required {
			continue
		}
		require.NotEmpty(t, f.Reference.Settings[s.Name], "the harness configures the line")
		without := f.Reference
		without.Settings = maps.Clone(without.Settings)
		delete(without.Settings, s.Name)
		_, err := f.Provider.Open(t.Context(), without, f.inbox)
		require.ErrorContains(t, err, s.Name, "a required setting is missing")
	}
	for name := range f.Reference.Settings {
		require.True(t, names[name], "the harness uses the undeclared setting %s", name)
	}
}

func addresses(t *testing.T, f *fixture) {
	for _, chatID := range f.h.ChatIDs {
		a, err := f.Provider.Address(chatID)
		require.NoError(t, err, chatID)
		require.NotEmpty(t, a.ChatID)
		again, err := f.Provider.Address(a.ChatID)
		require.NoError(t, err, "what comes out goes in")
		require.Equal(t, a, again)
		suffix := "::single"
		if a.Group {
			suffix = "::group"
		}
		require.True(t, strings.HasSuffix(a.RemoteJID(), suffix))
		require.Greater(t, len(a.RemoteJID()), len(suffix))
		id := strings.TrimSuffix(a.RemoteJID(), suffix)
		if a.Group {
			id += "@g.us"
		}
		if a.LID == "" { // whose digits may be a phone number's
			again, err = f.Provider.Address(id)
			require.NoError(t, err, "the id in a remoteJid goes in")
			require.Equal(t, a, again)
		}
		require.Empty(t, strings.Trim(a.Phone, "0123456789"), "a phone is digits")
	}
	for _, junk := range f.h.Junk {
		_, err := f.Provider.Address(junk)
		var bad *provider.BadRecipient
		require.ErrorAs(t, err, &bad, "%q", junk)
	}
}

func checker(t *testing.T, f *fixture) {
	c, ok := f.open(t).(provider.Checker)
	if !ok {
		return
	}
	account, err := c.Check(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, account.ID)
	again, err := c.Check(t.Context())
	require.NoError(t, err, "a check may be repeated")
	require.Equal(t, account, again)
}
