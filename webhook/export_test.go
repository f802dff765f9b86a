package webhook

// Over returns the statement that lists deliveries that are over.
func (a *Account) Over(f DeliveryFilter) (text string, args []any) {
	return f.over(a, firstAttempt, 51)
}
