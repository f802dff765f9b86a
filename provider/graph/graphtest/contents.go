package graphtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// sentFile is a file in a message, a header or a parameter.
type sentFile struct {
	ID       string `json:"id"`
	Link     string `json:"link"`
	Caption  string `json:"caption"`
	Filename string `json:"filename"`
	Voice    bool   `json:"voice"`
}

type sentLocation struct {
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	Name      string   `json:"name"`
	Address   string   `json:"address"`
}

type sentContact struct {
	Name struct {
		Formatted string `json:"formatted_name"`
		First     string `json:"first_name"`
		Last      string `json:"last_name"`
		Middle    string `json:"middle_name"`
		Prefix    string `json:"prefix"`
		Suffix    string `json:"suffix"`
	} `json:"name"`
}

type sentReaction struct {
	MessageID string  `json:"message_id"`
	Emoji     *string `json:"emoji"`
}

type sentInteractive struct {
	Type   string          `json:"type"`
	Header json.RawMessage `json:"header"`
	Body   *struct {
		Text string `json:"text"`
	} `json:"body"`
	Footer *struct {
		Text string `json:"text"`
	} `json:"footer"`
	Action json.RawMessage `json:"action"`
}

func missing(what string) *reply {
	return detailed(131008, "(#131008) Required parameter is missing", "Parameter '"+what+"' is missing.")
}

func wrong(details string) *reply {
	return detailed(131009, "(#131009) Parameter value is not valid", details)
}

// files returns the files of a message by type.
func (in *sent) file() *sentFile {
	return map[string]*sentFile{
		"image": in.Image, "video": in.Video, "audio": in.Audio, "document": in.Document, "sticker": in.Sticker,
	}[in.Type]
}

// content checks the part of a message that its type names.
func (e *messageEndpoint) content(l Number, in *sent) *reply {
	switch in.Type {
	case "", "text":
		switch {
		case in.Text == nil || in.Text.Body == nil:
			return missing("text.body")
		case *in.Text.Body == "" || utf8.RuneCountInString(*in.Text.Body) > 4096:
			return wrong("Param text['body'] must be between 1 and 4096 characters long.")
		}
	case "template":
		switch {
		case in.Template == nil || in.Template.Name == "":
			return missing("template.name")
		case in.Template.Language.Code == "":
			return missing("template.language.code")
		}
	case "image", "video", "audio", "document", "sticker":
		return e.sentFile(l, in)
	case "location":
		if in.Location == nil || in.Location.Latitude == nil || in.Location.Longitude == nil {
			return missing("location")
		}
	case "reaction":
		if in.Reaction == nil || in.Reaction.MessageID == "" || in.Reaction.Emoji == nil {
			return missing("reaction")
		}
	case "contacts":
		return contacts(in.Contacts)
	case "interactive":
		return in.Interactive.check()
	default:
		return detailed(131051, "(#131051) Unsupported message type", "Type "+in.Type+" is not one that this fake takes.")
	}
	return nil
}

func (e *messageEndpoint) sentFile(l Number, in *sent) *reply {
	f := in.file()
	switch {
	case f == nil || f.ID == "" && f.Link == "":
		return missing(in.Type + ".id")
	case utf8.RuneCountInString(f.Caption) > 1024:
		return wrong("Param " + in.Type + "['caption'] must be at most 1024 characters long.")
	case f.Caption != "" && (in.Type == "audio" || in.Type == "sticker"):
		return detailed(100, "(#100) Invalid parameter", "Unexpected key \"caption\" on param \""+in.Type+"\".")
	case f.Filename != "" && in.Type != "document":
		return detailed(100, "(#100) Invalid parameter", "Unexpected key \"filename\" on param \""+in.Type+"\".")
	case f.ID == "":
		return nil
	}
	e.fake.mu.Lock()
	defer e.fake.mu.Unlock()
	if stored := e.fake.Files.kept[f.ID]; stored == nil || stored.Owner != l.PhoneNumberID {
		return detailed(131053, "(#131053) Media upload error", "There is no file "+f.ID+" of this number.")
	}
	return nil
}

func contacts(raw json.RawMessage) *reply {
	var list []sentContact
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return missing("contacts")
	}
	for i, c := range list {
		n := c.Name
		if n.Formatted == "" || n.First+n.Last+n.Middle+n.Prefix+n.Suffix == "" {
			return missing(fmt.Sprintf("contacts[%d].name", i))
		}
	}
	return nil
}

func (in *sentInteractive) check() *reply {
	if in == nil || len(in.Action) == 0 {
		return missing("interactive.action")
	}
	var action struct {
		Button  string `json:"button"`
		Buttons []struct {
			Type  string
			Reply struct{ ID, Title string }
		} `json:"buttons"`
		Sections []struct {
			Rows []struct{ ID, Title, Description string }
		} `json:"sections"`
	}
	if json.Unmarshal(in.Action, &action) != nil {
		return wrong("interactive['action'] is not valid")
	}
	switch {
	case in.Body == nil && in.Type != "product":
		return missing("interactive.body")
	case in.Body != nil && utf8.RuneCountInString(in.Body.Text) > 1024:
		return wrong("Body text length invalid. Min length: 1, Max length: 1024")
	case in.Type == "button" && (len(action.Buttons) < 1 || len(action.Buttons) > 3):
		return wrong("Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: 3")
	case in.Type == "list" && (action.Button == "" || utf8.RuneCountInString(action.Button) > 20):
		return wrong("Button label length invalid. Min length: 1, Max length: 20")
	}
	for _, b := range action.Buttons {
		if n := utf8.RuneCountInString(b.Reply.Title); n < 1 || n > 20 {
			return wrong("Button title length invalid. Min length: 1, Max length: 20")
		}
	}
	rows := 0
	for _, section := range action.Sections {
		for _, row := range section.Rows {
			if rows++; row.ID == "" || utf8.RuneCountInString(row.Title) > 24 {
				return wrong("Row title is too long. Max length: 24")
			}
		}
	}
	if in.Type == "list" && (rows < 1 || rows > 10) {
		return wrong("Total row count exceed max allowed count: 10")
	}
	return nil
}

// words returns the text of a message that the contact reads.
func (in *sent) words() string {
	switch {
	case in.Text != nil && in.Text.Body != nil:
		return *in.Text.Body
	case in.file() != nil:
		return in.file().Caption
	case in.Interactive != nil && in.Interactive.Body != nil:
		return in.Interactive.Body.Text
	case in.Reaction != nil && in.Reaction.Emoji != nil:
		return *in.Reaction.Emoji
	case in.Location != nil:
		return strings.TrimSpace(in.Location.Name + " " + in.Location.Address)
	}
	return ""
}
