package cloudapi

import (
	"context"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/api/uploads"
)

// uploaded is the answer to an upload.
type uploaded struct {
	ID string `json:"id"`
}

// file is a file as Meta describes it.
type file struct {
	Product string `json:"messaging_product"`
	ID      string `json:"id"`
	URL     string `json:"url"`
	MIME    string `json:"mime_type"`
	Size    int64  `json:"file_size"`
}

// upload keeps a file that is to be sent by its id.
func (a *API) upload(ctx context.Context, c *call) (any, error) {
	ref, err := c.reference(ctx, auth.ChatsSend)
	if err != nil {
		return nil, err
	}
	m, err := uploads.ReadForm(c.w, c.r, a.Messaging.For(c.caller.Account), ref.ID, "messaging_product", "type")
	return uploaded{m.ID}, err
}

func (a *API) describe(m messaging.Media) file {
	return file{Product: "whatsapp", ID: m.ID, URL: a.BaseURL + "/" + m.FileURL, MIME: m.MimeType, Size: m.FileLength}
}
