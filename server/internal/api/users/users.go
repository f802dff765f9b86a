package users

import (
	"context"
	"net/http"

	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// usersRoutes are the users of an account.
func (a *API) usersRoutes(api *httpapi.API) {
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_CreateUser", Method: http.MethodPost, Path: "/user", Status: http.StatusCreated,
		Summary: "Add a user to the account", About: "Requires `permissions` or a `role`. The caller must have all of these permissions; only an owner can add an owner. " +
			"To let the new user choose the password, send an invitation: `POST /user/invitation`.",
		Errors: []int{http.StatusConflict}, Login: true,
	}, auth.UsersManage, a.createUser)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_Users", Method: http.MethodGet, Path: "/user/list", Summary: "List the users of the account, oldest first",
	}, auth.UsersManage, a.listUsers)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_UpdateUser", Method: http.MethodPatch, Path: "/user/{userId}", Summary: "Change a user",
		About: "Users can change their own e-mail and password with `currentPassword`. To change other users, or `permissions`, `role` and `disabled`, the caller needs the permission `users.manage`. " +
			"The caller can only grant permissions that the caller has, and change users who have no others. Only an owner can create and change owners. " +
			"An account keeps at least one owner who can log in. A new password ends all earlier tokens and cookies.",
		Errors: []int{http.StatusNotFound, http.StatusConflict}, Login: true, Self: "userId",
	}, httpapi.AnyUser, a.updateUser)
	httpapi.Register(api, httpapi.Operation{
		ID: "Auth_DeleteUser", Method: http.MethodDelete, Path: "/user/{userId}", Summary: "Delete a user",
		About:  "The user's tokens and cookies end at once. The caller must have every permission of the user; only an owner can delete an owner. An account keeps at least one owner who can log in.",
		Errors: []int{http.StatusNotFound, http.StatusConflict}, Login: true,
	}, auth.UsersManage, a.deleteUser)
}

type newUserBody struct {
	Email       string            `json:"email" format:"email" maxLength:"254"`
	Name        string            `json:"name" minLength:"1" maxLength:"200"`
	Password    string            `json:"password" minLength:"10" maxLength:"1000"`
	Permissions []auth.Permission `json:"permissions,omitempty" nullable:"false" maxItems:"200" doc:"Permissions, all of which the caller must have. GET /user/permissions lists all permissions. Required without role." example:"[\"chats.read\",\"chats.send\"]"`
	Role        auth.Role         `json:"role,omitempty" enum:"owner,admin,builder,agent,viewer" doc:"A named set of permissions, to be used instead of permissions."`
}

func (a *API) createUser(ctx context.Context, c httpapi.Call, in *struct{ Body newUserBody }) (userView, error) {
	b := in.Body
	if b.Permissions == nil && b.Role == "" {
		return userView{}, httpapi.Invalid("body.permissions", "is required without role")
	}
	u, err := a.Auth.Users().Create(ctx, c.Caller, auth.NewUser{Email: b.Email, Name: b.Name, Password: b.Password, Role: b.Role}, b.Permissions)
	return viewUser(u), err
}

func (a *API) listUsers(ctx context.Context, c httpapi.Call, in *httpapi.PageInput) (view.Page[userView], error) {
	p, err := a.Auth.Users().List(ctx, c.Account, in.List())
	return view.PageOf(p, viewUser), httpapi.InQuery(err)
}

type userPath struct {
	ID string `path:"userId" maxLength:"64" doc:"Id of the user."`
}

type userChange struct {
	ID   string `path:"userId" maxLength:"64" doc:"Id of the user."`
	Body struct {
		Name            *string           `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Email           *string           `json:"email,omitempty" format:"email" maxLength:"254"`
		Password        *string           `json:"password,omitempty" minLength:"10" maxLength:"1000"`
		CurrentPassword string            `json:"currentPassword,omitempty" maxLength:"1000" doc:"Required to change your own e-mail or password."`
		Permissions     []auth.Permission `json:"permissions,omitempty" nullable:"false" maxItems:"200"`
		Role            auth.Role         `json:"role,omitempty" enum:"owner,admin,builder,agent,viewer" doc:"A named set of permissions, to be used instead of permissions."`
		Disabled        *bool             `json:"disabled,omitempty" doc:"Whether the user is disabled: a disabled user cannot log in, and the user's tokens and cookies are refused."`
	}
}

func (a *API) updateUser(ctx context.Context, c httpapi.Call, in *userChange) (userView, error) {
	b := in.Body
	u, err := a.Auth.Users().Update(ctx, c.Caller, in.ID, auth.UserChange{
		Name: b.Name, Email: b.Email, Password: b.Password, Permissions: b.Permissions, Role: b.Role, Disabled: b.Disabled,
		CurrentPassword: b.CurrentPassword, Address: c.Client,
	})
	return viewUser(u), err
}

func (a *API) deleteUser(ctx context.Context, c httpapi.Call, in *userPath) (httpapi.Done, error) {
	return httpapi.Done{Success: true}, a.Auth.Users().Delete(ctx, c.Caller, in.ID)
}
