package server

import (
	"context"
	"log/slog"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/server/internal/api/flows"
	"github.com/trunklinehq/trunkline/server/internal/api/modelusage"
	"github.com/trunklinehq/trunkline/server/internal/api/projectfiles"
	"github.com/trunklinehq/trunkline/server/internal/api/references"
	"github.com/trunklinehq/trunkline/server/internal/api/remotes"
	"github.com/trunklinehq/trunkline/server/internal/api/users"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// problemOf translates an error for the client. What nothing translates is
// logged, and the client learns only that it happened.
func (s *Server) problemOf(ctx context.Context, err error) *Problem {
	if p := known(err); p != nil {
		return p
	}
	if p := s.storeProblem(ctx, err); p != nil {
		return p
	}
	if ctx.Err() != nil {
		return httpapi.NewProblem(httpapi.CodeUnavailable, "the request was ended before it was answered")
	}
	s.log.ErrorContext(ctx, "request failed", slog.Any("error", err))
	return httpapi.NewProblem(httpapi.CodeInternal, "")
}

// translations make problems of those errors of services that are not of package
// apierr; the first that knows one wins.
var translations = httpapi.Translators{users.Problem, references.Problem, flows.Problem, remotes.Problem, modelusage.Problem, projectfiles.Problem, quotaProblem}

// known returns the problem that err is, or that a service means by it. It
// returns nil when err is neither.
func known(err error) *Problem { return translations.Problem(err) }

// storeProblem is for a store that takes nothing for now. The operator must
// act, so it is logged, and the probe looks closer.
func (s *Server) storeProblem(ctx context.Context, err error) *Problem {
	if ctx.Err() != nil || !database.IsUnwritable(err) {
		return nil
	}
	s.probe.refusals.Add(1)
	s.log.ErrorContext(ctx, "the store cannot be written", slog.Any("error", err))
	return httpapi.NewProblem(httpapi.CodeUnavailable, "the store cannot be written for now")
}
