package httpapi

import (
	"github.com/trunklinehq/trunkline/internal/page"
)

// PageInput is the part of a list that a request asks for.
type PageInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"cursor" maxLength:"200" doc:"The next of the previous page."`
}

// List is the same for a service.
func (in PageInput) List() page.List { return page.List(in) }

// Done is the answer of an operation that has nothing to tell.
type Done struct {
	Success bool `json:"success"`
}
