package delivery

import "strings"

// maskedFrom is the length from which a part of a header value is no common
// word.
const maskedFrom = 8

// masked is what a receiver answered without the values of the endpoint's own
// headers: one that repeats what it got must not show them to those who read
// the log. A text that was cut may end within one.
func (t *Target) masked(text string) string {
	for _, h := range t.Opened {
		for _, secret := range append([]string{h.Value}, strings.Fields(h.Value)...) { // "Bearer" and a token, too
			if len(secret) < maskedFrom {
				continue
			}
			text = strings.ReplaceAll(text, secret, Mask)
			for n := min(len(secret), len(text)); n >= maskedFrom; n-- {
				if strings.HasSuffix(text, secret[:n]) {
					text = text[:len(text)-n] + Mask
					break
				}
			}
		}
	}
	return text
}
