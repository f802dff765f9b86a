package graph

import (
	"strconv"
	"time"
)

// class is what a code means for the message.
type class int

const (
	unknown   class = iota
	rejected        // permanently
	auth            // because of credentials or permissions
	rate            // until a limit allows more
	temporary       // because the API has a problem
	window          // free-form messages are not allowed
	recipient       // the contact cannot be reached
)

// meaning is what a code means, and what the owner of the reference can do.
type meaning struct {
	class  class
	advice string
	after  time.Duration // how long to wait if the API does not say; 0: the caller chooses
}

// pair is a code with a sub-code that changes its meaning.
type pair struct{ code, subcode int }

const (
	freshAccess = "Make a new access token and put it into the reference's settings."
	permission  = "Give the token's user the permission in Meta's business settings."
	slower      = "It is sent again later; send less at a time."
	later       = "It is tried again by itself."
	useTemplate = "The contact has not written for too long: send an approved template."
	useTag      = "The contact has not written for too long: only a message with a tag, such as HUMAN_AGENT, would pass."
	notNow      = "The person takes no messages for now."
	noFile      = "Meta could not fetch or read the file: it must be public, of a type that is taken, and not too large."
	noProfile   = "The person's profile is not to be had."
	fixRequest  = "The request has a mistake; the details say where."
	fixTemplate = "Fill the template as it was approved: as many parameters, of the same types and names."
	payment     = "Settle the account's payment method in Meta's business manager."
	review      = "See the account's quality and messages in Meta's business support."
	registerIt  = "Register the number with the Cloud API."
)

// pairs take precedence over codes.
var pairs = map[pair]meaning{
	{10, 2018278}:  {class: window, advice: useTag},
	{10, 2534022}:  {class: window, advice: useTag},
	{10, 2018065}:  {class: window, advice: "The page may not use this tag: ask Meta for its permission."},
	{10, 2018108}:  {class: recipient, advice: notNow},
	{10, 1893063}:  {class: recipient, advice: notNow},
	{10, 2018300}:  {class: rejected, advice: "Another app has this conversation: take it over first."},
	{190, 458}:     {class: auth, advice: "The app was removed from the account: connect it again, then make a new access token."},
	{190, 460}:     {class: auth, advice: "The password was changed. " + freshAccess},
	{190, 463}:     {class: auth, advice: "The access token has expired. " + freshAccess},
	{200, 1545041}: {class: recipient, advice: notNow},
	{100, 33}:      {class: rejected, advice: "There is no such object, or the token may not see it: check the ids in the reference's settings."},
	{100, 2018001}: {class: recipient, advice: "There is no such person for this page."},
	{100, 2018008}: {class: rejected, advice: noFile},
	{100, 2018047}: {class: rejected, advice: noFile},
	{100, 2018074}: {class: rejected, advice: "The page has no file of this id: upload it again."},
	{100, 2018109}: {class: recipient, advice: "The person, or the file, cannot be reached by this page."},
	{100, 2018144}: {class: rejected, advice: "There is no such message, or another app has this conversation."},
	{100, 2018218}: {class: rejected, advice: noProfile},
	{100, 2018230}: {class: rejected, advice: noProfile},
	{100, 2018247}: {class: rejected, advice: noProfile},
}

// codes are the known codes of errors. The numbers come from:
// https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes
// https://developers.facebook.com/docs/messenger-platform/error-codes
// https://developers.facebook.com/docs/graph-api/guides/error-handling
var codes = map[int]meaning{
	0:      {class: auth, advice: "The token was not accepted. " + freshAccess},
	3:      {class: auth, advice: permission},
	10:     {class: auth, advice: permission},
	102:    {class: auth, advice: freshAccess},
	104:    {class: auth, advice: "No access token was sent. " + freshAccess},
	190:    {class: auth, advice: freshAccess},
	131005: {class: auth, advice: permission},

	4:      {class: rate, advice: "The app makes too many calls. " + slower},
	17:     {class: rate, advice: "Too many calls for one user. " + slower},
	32:     {class: rate, advice: "Too many calls for one page. " + slower},
	613:    {class: rate, advice: slower},
	80007:  {class: rate, advice: "Too many calls for the business account. " + slower},
	130429: {class: rate, advice: "The number sends more than its throughput. " + slower},
	131048: {class: rate, advice: "Contacts have blocked or reported the number: send fewer and better messages. " + review, after: time.Hour},
	131056: {class: rate, advice: "Too many messages to this contact in a short time. " + slower},
	131064: {class: rate, advice: "The number may write to no more people today.", after: time.Hour},
	133016: {class: rate, advice: "The number was registered too often: wait 72 hours."},

	1:      {class: temporary, advice: later},
	2:      {class: temporary, advice: later},
	1200:   {class: temporary, advice: later},
	131000: {class: temporary, advice: later},
	131016: {class: temporary, advice: later},
	131057: {class: temporary, advice: "Meta changes the number's throughput, for a minute. " + later},
	133004: {class: temporary, advice: later},
	133015: {class: temporary, advice: "The number was deleted a moment ago. " + later},
	135000: {class: temporary, advice: later},

	131047: {class: window, advice: useTemplate},

	551:    {class: recipient, advice: notNow},
	130403: {class: recipient, advice: "The contact has blocked the number."},
	131021: {class: recipient, advice: "A number cannot write to itself."},
	131026: {class: recipient, advice: "The contact cannot receive the message: the number has no WhatsApp, the app is too old, or Meta's terms were not accepted."},
	131030: {class: recipient, advice: "A test number writes only to the numbers listed in the app's dashboard: add this one."},

	33:      {class: rejected, advice: "There is no such object, or the token may not see it: check the ids in the reference's settings."},
	100:     {class: rejected, advice: fixRequest},
	368:     {class: rejected, advice: "Meta has blocked the account for a while. " + review},
	803:     {class: rejected, advice: "There is no such object: check the ids in the reference's settings."},
	36000:   {class: rejected, advice: "The file is too large or of a type that is not taken."},
	130472:  {class: rejected, advice: "Meta leaves this contact out of marketing, as an experiment: do not send it again."},
	130497:  {class: rejected, advice: "Messages of this kind of business are not allowed in the contact's country."},
	131008:  {class: rejected, advice: fixRequest},
	131009:  {class: rejected, advice: fixRequest},
	131031:  {class: rejected, advice: "Meta has locked the account. " + review},
	131037:  {class: rejected, advice: "The number's display name is not approved yet: see it in WhatsApp manager."},
	131042:  {class: rejected, advice: payment},
	131044:  {class: rejected, advice: payment},
	131045:  {class: rejected, advice: "The number's certificate is not right. " + registerIt},
	131049:  {class: rejected, advice: "Meta held it back so that the contact gets less marketing: wait at least 24 hours before another."},
	131050:  {class: rejected, advice: "The contact wants no marketing from this number: do not send it again."},
	131051:  {class: rejected, advice: "WhatsApp has no message of this type."},
	131052:  {class: rejected, advice: "Meta could not fetch the contact's file: ask for it again."},
	131053:  {class: rejected, advice: "Meta could not fetch the file: it must be public, of a type that is taken, and not too large."},
	131055:  {class: rejected, advice: "This call is not for messages of this type."},
	131060:  {class: rejected, advice: "The message is not to be had any more."},
	131062:  {class: rejected, advice: "This message needs the contact's phone number: a user id is not enough."},
	131063:  {class: rejected, advice: "This template goes through the Marketing Messages API only."},
	132000:  {class: rejected, advice: fixTemplate},
	132001:  {class: rejected, advice: "There is no approved template of this name in this language."},
	132005:  {class: rejected, advice: "The template is too long once its parameters are filled in: shorten them."},
	132007:  {class: rejected, advice: "The template breaks Meta's policy: write another."},
	132008:  {class: rejected, advice: fixTemplate},
	132012:  {class: rejected, advice: fixTemplate},
	132015:  {class: rejected, advice: "The template is paused for its low quality: improve it, or use another."},
	132016:  {class: rejected, advice: "The template is disabled for its low quality: make a new one."},
	132018:  {class: rejected, advice: fixTemplate},
	132068:  {class: rejected, advice: "The flow is blocked: correct it in WhatsApp manager."},
	132069:  {class: rejected, advice: "The flow is throttled: 10 messages an hour until its endpoint is better."},
	133000:  {class: rejected, advice: "Deregister the number once more, then register it."},
	133005:  {class: rejected, advice: "The PIN is wrong."},
	133006:  {class: rejected, advice: "Verify the number before it is registered."},
	133008:  {class: rejected, advice: "Too many wrong PINs: wait as long as the details say."},
	133009:  {class: rejected, advice: "The PIN was given too fast: wait as long as the details say."},
	133010:  {class: rejected, advice: registerIt},
	136024:  {class: rejected, advice: "Ask for the verification code again, as SMS or by voice."},
	136025:  {class: rejected, advice: "The verification code is wrong."},
	137000:  {class: rejected, advice: "The contact has another identity than expected: make sure that it is still the same person."},
	2388019: {class: rejected, advice: "The account has as many templates as it may: delete some."},
	2388024: {class: rejected, advice: "A template with this name exists in this language. Choose another name."},
	2388039: {class: rejected, advice: fixRequest},
	2388040: {class: rejected, advice: "A part of the template is too long."},
	2388047: {class: rejected, advice: "The template's header is not as it must be."},
	2388072: {class: rejected, advice: "The template's body is not as it must be."},
	2388073: {class: rejected, advice: "The template's footer is not as it must be."},
	2388293: {class: rejected, advice: "The template has too many variables for so little text."},
	2388299: {class: rejected, advice: "The template must not begin or end with a variable."},
	2593002: {class: rejected, advice: "There is no such template."},
	2593107: {class: rejected, advice: "The history of this number was asked for before: it comes once."},
	2593108: {class: rejected, advice: "The time to ask for this number's history is over."},
	2593109: {class: rejected, advice: "The account's owner does not share the history."},
}

// ranges are codes that are not known individually.
var ranges = []struct {
	from, to int
	meaning
}{
	{200, 299, meaning{class: auth, advice: permission}},
	{80000, 80014, meaning{class: rate, advice: slower}}, // limits of business use cases
	{132000, 132999, meaning{class: rejected, advice: fixTemplate}},
	{133000, 133999, meaning{class: rejected, advice: "The number could not be registered."}},
	{134000, 137999, meaning{class: rejected}},
	{138000, 138999, meaning{class: rejected, advice: "The call was not possible."}},
	{139000, 139099, meaning{class: rejected, advice: "The flow is not as it must be."}},
	{139100, 139999, meaning{class: rejected, advice: "The contact could not be blocked or unblocked."}},
	{147000, 147999, meaning{class: rejected, advice: "The business user name could not be had."}},
	{2388000, 2388999, meaning{class: rejected, advice: "The template is not as it must be."}},
}

// meaning looks up a code; known is false if there is no rule for it.
func (e *Error) meaning() (m meaning, known bool) {
	if m, known = pairs[pair{e.Code, e.Subcode}]; known {
		return m, true
	}
	if e.Code == 100 { // for templates, only the sub-code has the reason
		if m, known = codes[e.Subcode]; known && e.Subcode > 100 {
			return m, true
		}
	}
	if m, known = codes[e.Code]; known {
		return m, true
	}
	for _, r := range ranges {
		if e.Code >= r.from && e.Code <= r.to {
			return r.meaning, true
		}
	}
	return meaning{}, false
}

// Advice returns what the user can do about a message that failed later, by the
// code of the callback; "" if there is nothing to do. Such a message is not
// sent again, so problems that end by themselves have no advice.
func Advice(code string) string {
	n, err := strconv.Atoi(code)
	if err != nil {
		return ""
	}
	m, _ := (&Error{Code: n}).meaning()
	if m.class == rate || m.class == temporary {
		return ""
	}
	return m.advice
}
