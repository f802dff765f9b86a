package users

import (
	"context"
	"encoding/base64"
	"net/http"

	"rsc.io/qr"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/cookies"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// Factors answers what concerns what users log in with beside passwords, or
// instead of them: authenticator apps and passkeys.
type Factors struct {
	Auth    *auth.Service
	Cookies cookies.Jar
}

// Register adds the operations of the resource.
func (a *Factors) Register(api *httpapi.API) {
	a.secondFactorRoutes(api)
	a.passkeyRoutes(api)
}

// secondFactorRoutes are the codes of an authenticator app that a login needs
// beside the password.
func (a *Factors) secondFactorRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_SecondFactor", Method: http.MethodGet, Path: "/user/second-factor", Summary: "Show whether the caller has a second factor",
		Login: true,
	}, httpapi.AnyUser, a.showSecondFactor)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_EnrolSecondFactor", Method: http.MethodPost, Path: "/user/second-factor", Status: http.StatusCreated,
		Summary: "Start to set up an authenticator app",
		About: "Creates a secret for an app that shows codes (TOTP: RFC 6238, SHA-1, 6 digits, 30 seconds). The second factor is active after " +
			"POST /user/second-factor/confirm has received a code.",
		Errors: []int{http.StatusConflict}, Login: true,
	}, httpapi.AnyUser, a.enrolSecondFactor)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_ConfirmSecondFactor", Method: http.MethodPost, Path: "/user/second-factor/confirm", Summary: "Confirm the authenticator app with a code",
		About:  "From then on, POST /user/login needs a code. The response has ten recovery codes, which are not shown again. Each replaces one code of the app.",
		Errors: []int{http.StatusNotFound, http.StatusConflict}, Login: true,
	}, httpapi.AnyUser, a.confirmSecondFactor)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_RenewRecoveryCodes", Method: http.MethodPost, Path: "/user/second-factor/recovery", Summary: "Replace the recovery codes",
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.renewRecoveryCodes)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_RemoveSecondFactor", Method: http.MethodDelete, Path: "/user/second-factor", Summary: "Remove the caller's second factor",
		Errors: []int{http.StatusNotFound}, Login: true,
	}, httpapi.AnyUser, a.removeSecondFactor)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_ResetSecondFactor", Method: http.MethodDelete, Path: "/user/{userId}/second-factor", Summary: "Remove the second factor of another user",
		About:  "For a user who has lost the app and the recovery codes. The caller must have every permission of the user.",
		Errors: []int{http.StatusNotFound}, Login: true,
	}, auth.UsersManage, a.resetSecondFactor)
}

type secondFactorView struct {
	Enabled       bool  `json:"enabled"`
	Since         int64 `json:"since,omitempty" doc:"UNIX seconds."`
	RecoveryCodes int   `json:"recoveryCodes" doc:"Number of recovery codes that are left."`
}

func (a *Factors) showSecondFactor(ctx context.Context, c httpapi.Call, _ *struct{}) (secondFactorView, error) {
	state, err := a.Auth.SecondFactor().State(ctx, c.Caller)
	out := secondFactorView{Enabled: state.Enabled, RecoveryCodes: state.RecoveryCodes}
	if state.Enabled {
		out.Since = state.Since.Unix()
	}
	return out, err
}

type passwordBody struct {
	Password string `json:"password" minLength:"1" maxLength:"1000" doc:"The caller's own password."`
}

type enrolmentView struct {
	Secret string `json:"secret" doc:"The secret in base32, to type into the app."`
	URL    string `json:"url" doc:"An otpauth:// URL, to open in an app on the same device."`
	QR     string `json:"qr" doc:"The same URL as a QR code: a data URL with a PNG."`
}

func (a *Factors) enrolSecondFactor(ctx context.Context, c httpapi.Call, in *struct{ Body passwordBody }) (enrolmentView, error) {
	e, err := a.Auth.SecondFactor().Enrol(ctx, c.Caller, in.Body.Password, c.Client)
	if err != nil {
		return enrolmentView{}, err
	}
	code, err := qr.Encode(e.URL, qr.M)
	if err != nil {
		return enrolmentView{}, err
	}
	return enrolmentView{e.Secret, e.URL, "data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG())}, nil
}

type codeBody struct {
	Code string `json:"code" minLength:"6" maxLength:"40" doc:"The code that the app shows now."`
}

type recoveryView struct {
	RecoveryCodes []string `json:"recoveryCodes" nullable:"false" doc:"Each code works once. The codes are not shown again."`
}

func (a *Factors) confirmSecondFactor(ctx context.Context, c httpapi.Call, in *struct{ Body codeBody }) (recoveryView, error) {
	codes, err := a.Auth.SecondFactor().Confirm(ctx, c.Caller, in.Body.Code)
	return recoveryView{codes}, err
}

func (a *Factors) renewRecoveryCodes(ctx context.Context, c httpapi.Call, in *struct{ Body passwordBody }) (recoveryView, error) {
	codes, err := a.Auth.SecondFactor().RenewRecoveryCodes(ctx, c.Caller, in.Body.Password, c.Client)
	return recoveryView{codes}, err
}

func (a *Factors) removeSecondFactor(ctx context.Context, c httpapi.Call, in *struct{ Body passwordBody }) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Auth.SecondFactor().Remove(ctx, c.Caller, in.Body.Password, c.Client)
}

func (a *Factors) resetSecondFactor(ctx context.Context, c httpapi.Call, in *userPath) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Auth.SecondFactor().Reset(ctx, c.Caller, in.ID)
}

// secondFactorRequired refuses a right password without a code, or with a wrong
// one, which is named.
func secondFactorRequired(wrong bool) *httpapi.Problem {
	p := httpapi.NewProblem(httpapi.CodeSecondFactor, "a code of the second factor is required")
	if wrong {
		p.Detail = "the code is wrong or was already used"
		p.Errors = append(p.Errors, httpapi.FieldError{Location: "body.code", Message: "is wrong or was already used"})
	}
	return p
}
