package flows

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

func testsOperation(id, path string) httpapi.Operation {
	return httpapi.Operation{
		ID: id, On: ofPath(path), Method: http.MethodGet, Path: path + "/test", Summary: "List the stored tests", Errors: []int{http.StatusNotFound},
	}
}

func setTestsOperation(id, path string) httpapi.Operation {
	return httpapi.Operation{
		ID: id, On: ofPath(path), Method: http.MethodPut, Path: path + "/test", Summary: "Store tests",
		About:  "Replaces the stored tests. A test that cannot be run is refused, with its position in `errors`.",
		Errors: []int{http.StatusNotFound},
	}
}

func testOperation(id, path string) httpapi.Operation {
	return httpapi.Operation{
		ID: id, On: ofPath(path), Method: http.MethodPost, Path: path + "/test", Summary: "Run its tests",
		About:  "Runs the stored tests, or `tests`, with the draft or with `version`. Nothing is sent or stored. All tests together may take 10,000 steps.",
		Errors: []int{http.StatusNotFound},
	}
}

// testList are simulated conversations with what is expected of them.
type testList struct {
	Tests []view.Document `json:"tests" nullable:"false" maxItems:"100" doc:"Each test is an object {name, given, steps}."`
}

type botTests struct {
	ID   string `path:"botId" maxLength:"64" doc:"Id of the bot."`
	Body testList
}

type flowTests struct {
	ID   string `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	Body testList
}

func showTests(ctx context.Context, of versions.Tests, id string) (testList, error) {
	raw, err := of.Get(ctx, id)
	if err != nil {
		return testList{}, err
	}
	var out testList
	if err := json.Unmarshal(raw, &out.Tests); err != nil {
		return testList{}, fmt.Errorf("reading tests: %w", err)
	}
	return out, nil
}

func setTests(ctx context.Context, of versions.Tests, id string, in testList) (testList, error) {
	raw, err := json.Marshal(in.Tests)
	if err != nil {
		return testList{}, fmt.Errorf("writing tests: %w", err)
	}
	return in, of.Set(ctx, id, raw)
}

// testRun says which tests are played.
type testRun struct {
	Version int64           `json:"version,omitempty" minimum:"0" doc:"The version to play. 0 is the draft."`
	Tests   []view.Document `json:"tests,omitempty" maxItems:"100" doc:"Tests to play instead of the stored ones."`
}

type botTest struct {
	ID   string   `path:"botId" maxLength:"64" doc:"Id of the bot."`
	Body *testRun `json:"body,omitempty"`
}

type flowTest struct {
	ID   string   `path:"flowId" maxLength:"64" doc:"Id of the flow."`
	Body *testRun `json:"body,omitempty"`
}

// parsed are the tests that the request has itself.
func (in *testRun) parsed() ([]simulate.Test, error) {
	if in.Tests == nil {
		return nil, nil
	}
	raw, err := json.Marshal(in.Tests)
	if err != nil {
		return nil, fmt.Errorf("writing tests: %w", err)
	}
	tests, err := simulate.ParseTests(raw)
	return tests, misplaced("body.tests", err)
}

// testReport is what came of tests.
type testReport struct {
	Passed   bool          `json:"passed" doc:"Whether all tests passed."`
	Tests    []testOutcome `json:"tests" nullable:"false" doc:"The results, in the order of the tests."`
	Coverage coverageView  `json:"coverage"`
}

type testOutcome struct {
	Name    string       `json:"name"`
	Passed  bool         `json:"passed"`
	Failure *failureView `json:"failure" doc:"The first difference from what the test expects."`
	Steps   []stepView   `json:"steps" nullable:"false" doc:"The last 200 steps of the run."`
}

type failureView struct {
	Step    int    `json:"step" doc:"Index of the test's step, from 0. The number of steps if the failure is after the last step."`
	Message string `json:"message"`
}

type coverageView struct {
	Nodes          map[string]int `json:"nodes" nullable:"false" doc:"How often each node was entered."`
	Outputs        map[string]int `json:"outputs" nullable:"false" doc:"How often each connected output was used, for example ask.timeout."`
	MissingNodes   []string       `json:"missingNodes" nullable:"false" doc:"Nodes that no test entered."`
	MissingOutputs []string       `json:"missingOutputs" nullable:"false" doc:"Outputs that no test used."`
}

// runTests plays tests. What the functions do that a flow calls does not count
// in its coverage.
func runTests(ctx context.Context, of versions.Tests, id string, in *testRun) (testReport, error) {
	if in == nil {
		in = &testRun{}
	}
	tests, err := in.parsed()
	if err != nil {
		return testReport{}, err
	}
	doc, program, err := of.Program(ctx, id, in.Version)
	if err != nil {
		return testReport{}, err
	}
	if in.Tests == nil {
		raw, err := of.Get(ctx, id)
		if err != nil {
			return testReport{}, err
		}
		if tests, err = simulate.ParseTests(raw); err != nil {
			return testReport{}, fmt.Errorf("reading tests: %w", err)
		}
	}
	report, err := simulate.Run(doc, program, tests)
	if err != nil {
		return testReport{}, err
	}
	out := testReport{Passed: report.Passed, Tests: make([]testOutcome, len(report.Tests)), Coverage: coverageView(report.Coverage)}
	for i, t := range report.Tests {
		out.Tests[i] = testOutcome{Name: t.Name, Passed: t.Passed, Failure: (*failureView)(t.Failure), Steps: viewTrace(t.Trace, 200)}
	}
	return out, nil
}

// ofPath binds what bots and flows have in common. Flows belong to the account,
// of whose permissions none that is about flows can be limited.
func ofPath(path string) httpapi.Binding {
	if strings.Contains(path, "{botId}") {
		return httpapi.At("path.botId")
	}
	return httpapi.Binding{}
}
