package typebot

import (
	"path"
	"slices"
	"strings"
)

// block makes what a block is, and returns how many blocks behind it belong to
// that.
func (b *builder) block(p place) (more int) {
	kind := b.graph.at(p).text("type")
	switch kind {
	case "start":
	case "text":
		return b.textBubble(p)
	case "image", "video", "audio", "embed":
		b.mediaBubble(p, kind)
	default:
		build, known := blocks[kind]
		switch {
		case known:
			build(b, p)
		case isInput(kind):
			b.input(p, "")
		default:
			b.omit(p, codeBlock, "the block \""+truncate(kind, 60)+"\" has no counterpart", hints[kind])
		}
	}
	return 0
}

// blocks make what their names say.
var blocks = map[string]func(*builder, place){
	"Set variable": (*builder).setVariable, "Condition": (*builder).condition, "Redirect": (*builder).redirect, "Code": (*builder).script,
	"Typebot link": (*builder).typebotLink, "Wait": (*builder).wait, "Jump": (*builder).jump, "AB test": (*builder).abTest, "webhook": (*builder).listen,
	"Webhook": (*builder).http, "Zapier": (*builder).http, "Make.com": (*builder).http, "Pabbly": (*builder).http,
	"OpenAI": (*builder).model, "openai": (*builder).model, "anthropic": (*builder).model, "mistral": (*builder).model, "groq": (*builder).model,
	"deepseek": (*builder).model, "open-router": (*builder).model, "together-ai": (*builder).model, "perplexity": (*builder).model,
}

// hints say what to do about blocks without a counterpart.
var hints = map[string]string{
	"payment input": "send the link of a payment page, and wait for an event that says it was paid",
	"Google Sheets": "call a web service with an http node",
	"Email":         "call a mail service with an http node",
	"Chatwoot":      "use a handoff node",
	"Loop":          "use a loop node",
	"Return":        "do not connect the last output",
}

// textBubble sends a text, or is the prompt of the input behind it.
func (b *builder) textBubble(p place) (more int) {
	in := b.graph.at(p)
	said := b.template(p, richText(in.object("content")))
	next := place{p.group, p.block + 1}
	if b.graph.edge(in) == "" && next.block < len(b.graph.groups[p.group].blocks) && isInput(b.graph.at(next).text("type")) && len([]rune(said)) <= 1000 {
		if b.input(next, said) {
			b.graph.first[p] = b.graph.first[next]
			return 1
		}
	}
	if said == "" {
		b.changed(p, "", "the bubble has no text and was left out")
		return 0
	}
	b.step(p, "message", map[string]any{"text": said})
	return 0
}

// mediaBubble sends a file, or the address of what is none.
func (b *builder) mediaBubble(p place, kind string) {
	content := b.graph.at(p).object("content")
	url := b.template(p, strings.TrimSpace(content.text("url")))
	if url == "" {
		b.changed(p, "", "the bubble has no address and was left out")
		return
	}
	if kind == "embed" || kind == "video" && !slices.Contains([]string{".mp4", ".3gp"}, strings.ToLower(path.Ext(strings.Split(url, "?")[0]))) {
		node := b.step(p, "message", map[string]any{"text": url})
		b.changed(p, node.id, "embedded content is sent as its address")
		return
	}
	b.step(p, "message", map[string]any{"kind": kind, "media": map[string]any{"url": url}})
}
