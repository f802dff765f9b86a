package cloud

// Meta's limits, in characters where nothing else is said.
// https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
const (
	maxText        = 4096
	maxCaption     = 1024
	maxCallback    = 512 // of biz_opaque_callback_data
	maxBody        = 1024
	maxHeader      = 60
	maxFooter      = 60
	maxButtons     = 3
	maxButtonTitle = 20
	maxButtonID    = 256
	maxListButton  = 20
	maxSections    = 10
	maxRows        = 10 // of all sections together
	maxTitle       = 24 // of a section or a row
	maxDescription = 72
	maxRowID       = 200
	maxFlowText    = 30
	maxProducts    = 30 // of a list of products
	maxCards       = 257
)
