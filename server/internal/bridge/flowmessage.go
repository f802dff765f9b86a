package bridge

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/messaging"
)

// said is the text of a message, or what is below its file.
func said(p messaging.MessagePayload) string {
	if p.Text != "" {
		return p.Text
	}
	return p.Caption
}

// FlowMessage returns a message as flows see it.
func FlowMessage(baseURL string, p messaging.MessagePayload) map[string]any {
	m := map[string]any{"id": p.ID, "type": p.Type, "text": said(p)}
	switch {
	case p.Location != nil:
		m["type"], m["location"] = "location", plain(p.Location)
	case p.Contacts != nil:
		m["type"], m["contacts"] = "contacts", plain(p.Contacts)
	case p.Type != messaging.TypeText && p.Type != "":
		m["media"] = map[string]any{
			"type": p.Type, "url": fileAddress(baseURL, p.FileURL), "mimetype": p.MimeType, "fileName": p.FileName,
			"fileLength": p.FileLength, "seconds": p.Seconds, "sticker": p.Sticker,
		}
	}
	if p.Reply != nil {
		m["reply"] = map[string]any{"id": p.Reply.ID, "title": p.Reply.Title}
	}
	return m
}

// fileAddress returns the URL of a file; "": there is none.
func fileAddress(baseURL, path string) string {
	if path == "" {
		return ""
	}
	return baseURL + "/" + path
}

// plain is a value as its JSON has it.
func plain(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}
