// Package privacy finds and erases personal data: that of a contact or a
// group in all tables, on a reference, and on an account. What is deleted is
// hidden in one transaction and removed in many small ones.
package privacy
