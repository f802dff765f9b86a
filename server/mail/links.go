package mail

// ResetLink returns the address of the page of the panel on which a token of
// IssueReset of package auth is used. The part behind # reaches no server and no
// log.
func ResetLink(baseURL, token string) string { return baseURL + "/panel/reset#" + token }

// InvitationLink returns the address of the page of the panel on which the token
// of an invitation is used. The part behind # reaches no server and no log.
func InvitationLink(baseURL, token string) string { return baseURL + "/panel/invitation#" + token }

// SignUpLink returns the address of the page of the panel on which the token of a
// sign-up is used. The part behind # reaches no server and no log.
func SignUpLink(baseURL, token string) string { return baseURL + "/panel/confirm#" + token }
