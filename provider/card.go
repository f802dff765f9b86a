package provider

// Contacts are contact cards.
type Contacts struct {
	Contacts []Card `json:"contacts"`
	// Origin is set on a card that answers a request of ours for the contact's
	// number. Its value is the network's.
	Origin string `json:"-"`
}

// Type is the name of the content type.
func (Contacts) Type() string { return "contacts" }

// Card is one person or company. Only the name's Formatted is always set.
type Card struct {
	Name      CardName      `json:"name"`
	Phones    []CardPhone   `json:"phones,omitempty"`
	Emails    []CardEmail   `json:"emails,omitempty"`
	Addresses []CardAddress `json:"addresses,omitempty"`
	URLs      []CardURL     `json:"urls,omitempty"`
	Org       *CardOrg      `json:"org,omitempty"`
	Birthday  string        `json:"birthday,omitempty"` // YYYY-MM-DD
	VCard     string        `json:"vcard,omitempty"`    // the card as text, if the network has it
}

// CardName is a name as a whole and in its parts.
type CardName struct {
	Formatted string `json:"formattedName"`
	First     string `json:"firstName,omitempty"`
	Middle    string `json:"middleName,omitempty"`
	Last      string `json:"lastName,omitempty"`
	Prefix    string `json:"prefix,omitempty"`
	Suffix    string `json:"suffix,omitempty"`
}

// CardPhone is a number as it was written, and the network's id of it.
type CardPhone struct {
	Phone string `json:"phone"`
	WaID  string `json:"waId,omitempty"`
	Type  string `json:"type,omitempty"` // "HOME", "WORK"
}

// CardEmail is an email address.
type CardEmail struct {
	Email string `json:"email"`
	Type  string `json:"type,omitempty"`
}

// CardURL is a web address.
type CardURL struct {
	URL  string `json:"url"`
	Type string `json:"type,omitempty"`
}

// CardAddress is a postal address.
type CardAddress struct {
	Street      string `json:"street,omitempty"`
	City        string `json:"city,omitempty"`
	State       string `json:"state,omitempty"`
	Zip         string `json:"zip,omitempty"`
	Country     string `json:"country,omitempty"`
	CountryCode string `json:"countryCode,omitempty"`
	Type        string `json:"type,omitempty"`
}

// CardOrg is the organization that a person works for.
type CardOrg struct {
	Company    string `json:"company,omitempty"`
	Department string `json:"department,omitempty"`
	Title      string `json:"title,omitempty"`
}
