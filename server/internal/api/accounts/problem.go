package accounts

import (
	"errors"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/quota"
)

// Problem translates the refusals of package quota.
func Problem(err error) *httpapi.Problem {
	var over *quota.Exceeded
	if !errors.As(err, &over) {
		return nil
	}
	p := httpapi.NewProblem(over.Code(), over.Error())
	if over.After > 0 {
		p.RetryAfter(over.After)
	}
	return p
}
