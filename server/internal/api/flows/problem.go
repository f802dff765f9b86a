package flows

import "github.com/trunklinehq/trunkline/server/internal/httpapi"

var problems = httpapi.Translators{botProblem, flowProblem, runProblem, simulationProblem}

// Problem translates the errors of the engines of bots and flows, of runs and
// of simulations.
func Problem(err error) *httpapi.Problem { return problems.Problem(err) }
