package users

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// invitationRoutes let persons join an account with passwords of their own.
func (a *API) invitationRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_Invite", Method: http.MethodPost, Path: "/user/invitation", Status: http.StatusCreated, Summary: "Invite a person into the account",
		About: "The link works once, within 7 days. If the server sends mail, the person gets the link by mail, which proves the address, and `link` is null. " +
			"Otherwise, or with `mail: false`, only this response has the `link`. The invitation has `permissions` or a `role`, and the caller must have all of its permissions; " +
			"only an owner can invite an owner. The link stops working when its sender may no longer add such a user.",
		Errors: []int{http.StatusConflict, http.StatusTooManyRequests}, Login: true,
	}, auth.UsersManage, a.invite)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_Invitations", Method: http.MethodGet, Path: "/user/invitation", Summary: "List the open invitations of the account, oldest first",
	}, auth.UsersManage, a.listInvitations)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_RevokeInvitation", Method: http.MethodDelete, Path: "/user/invitation/{invitationId}", Summary: "Revoke an invitation",
		About: "The caller must have all permissions of the invitation.", Errors: []int{http.StatusNotFound}, Login: true,
	}, auth.UsersManage, a.revokeInvitation)
	httpapi.RegisterReply(api, httpapi.Operation{
		ID: "Auth_AcceptInvitation", Method: http.MethodPost, Path: "/user/invitation/accept", Status: http.StatusCreated, Summary: "Accept an invitation",
		About:  "Creates the user, even if sign-up is closed. " + aboutCookie,
		Errors: []int{http.StatusForbidden}, Limited: true,
	}, httpapi.Anyone, a.acceptInvitation)
}

type invitationBody struct {
	Email       string            `json:"email" format:"email" maxLength:"254"`
	Name        string            `json:"name,omitempty" maxLength:"200" doc:"Name of the user, who may change it. If absent, the user enters a name."`
	Permissions []auth.Permission `json:"permissions,omitempty" nullable:"false" maxItems:"200" doc:"Permissions, all of which the caller must have. Required without role." example:"[\"chats.read\",\"chats.send\"]"`
	Role        auth.Role         `json:"role,omitempty" enum:"owner,admin,builder,agent,viewer" doc:"A named set of permissions, to be used instead of permissions."`
	Mail        *bool             `json:"mail,omitempty" doc:"Whether to send the link by mail, if the server has a mail server. Default: true."`
}

type invitationView struct {
	ID          string            `json:"id"`
	Email       string            `json:"email"`
	Name        *string           `json:"name" doc:"null if the user enters a name."`
	Permissions []auth.Permission `json:"permissions" nullable:"false"`
	Role        *auth.Role        `json:"role" enum:"owner,admin,builder,agent,viewer" doc:"The role with exactly these permissions; null if no role has them."`
	InvitedBy   string            `json:"invitedBy" doc:"Id of the user who sent the invitation."`
	CreatedAt   int64             `json:"createdAt" doc:"UNIX seconds."`
	ExpiresAt   int64             `json:"expiresAt" doc:"UNIX seconds."`
}

type invitedView struct {
	Invitation invitationView `json:"invitation"`
	Link       *string        `json:"link" doc:"Returned only now; null if it is sent by mail."`
}

func viewInvitation(in auth.Invitation) invitationView {
	return invitationView{
		ID: in.ID, Email: in.Email, Name: view.OrNull(in.Name), Permissions: in.Permissions, Role: viewRole(in.Role),
		InvitedBy: in.InvitedBy, CreatedAt: in.CreatedAt.Unix(), ExpiresAt: in.ExpiresAt.Unix(),
	}
}

func (a *API) invite(ctx context.Context, c httpapi.Call, in *struct{ Body invitationBody }) (invitedView, error) {
	b := in.Body
	if b.Permissions == nil && b.Role == "" {
		return invitedView{}, httpapi.Invalid("body.permissions", "is required without role")
	}
	made, token, err := a.Auth.Invitations().Create(ctx, c.Caller, auth.NewInvitation{
		Email: b.Email, Name: b.Name, Role: b.Role, Permissions: b.Permissions, NoMail: b.Mail != nil && !*b.Mail,
	})
	out := invitedView{Invitation: viewInvitation(made)}
	if token != "" {
		link := a.InvitationLink(token)
		out.Link = &link
	}
	return out, err
}

func (a *API) listInvitations(ctx context.Context, c httpapi.Call, in *httpapi.PageInput) (view.Page[invitationView], error) {
	p, err := a.Auth.Invitations().List(ctx, c.Account, in.List())
	return view.PageOf(p, viewInvitation), httpapi.InQuery(err)
}

type invitationPath struct {
	ID string `path:"invitationId" maxLength:"64" doc:"Id of the invitation."`
}

func (a *API) revokeInvitation(ctx context.Context, c httpapi.Call, in *invitationPath) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Auth.Invitations().Revoke(ctx, c.Caller, in.ID)
}

type acceptBody struct {
	Token    string `json:"token" minLength:"1" maxLength:"200" doc:"The part of the link after the #."`
	Name     string `json:"name,omitempty" maxLength:"200" doc:"Name of the user. Required if the invitation has no name."`
	Password string `json:"password" minLength:"10" maxLength:"1000"`
	Cookie   bool   `json:"cookie,omitempty" doc:"Whether to set a session cookie as well. Default: false."`
}

func (a *API) acceptInvitation(ctx context.Context, c httpapi.Call, in *struct{ Body acceptBody }) (*withCookie[sessionView], error) {
	b := in.Body
	if b.Cookie && c.Foreign {
		return nil, httpapi.CrossSite()
	}
	session, err := a.Auth.Invitations().Accept(ctx, b.Token, auth.NewUser{Name: b.Name, Password: b.Password, Address: c.Client, Agent: c.Agent, Cookie: b.Cookie})
	return viewSession(a.Cookies, session), err
}
