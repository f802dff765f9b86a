// Package media keeps the files of messages: it takes them from a stream,
// checks them, looks into them, stores them in a folder or a bucket, and serves
// them by links that cannot be guessed. It knows no message and keeps no table:
// what [Library.Save] returns is for the caller to remember.
//
// # A library
//
//	folder, err := media.OpenFolder("/var/lib/shop/media")
//	lib, err := media.New(folder, &media.Options{Secrets: []string{secret}})
//	go lib.Run(ctx) // removes what a killed process left half written
//
// Another [Store] is package messaging/media/s3, for buckets that several
// nodes share.
//
// # Keeping a file
//
// Save reads a stream to its end, once, and never holds it in memory. It
// enforces a limit while it reads, compares what arrived with what was
// promised, and stores nothing when they differ:
//
//	f, err := lib.Save(ctx, response.Body, media.Upload{
//		Max:    16 << 20,
//		SHA256: promised,
//		Type:   "audio/ogg; codecs=opus",
//	})
//
// The error is a [*TooLarge], a [*Mismatch], [ErrEmpty], [ErrFull], or
// what the stream itself returned.
//
// # What type a file has
//
// The bytes decide, and what was declared adds what they cannot say. Let
// "found" be what the first 4 KiB look like:
//
//   - Nothing was declared, or application/octet-stream: found it is.
//   - An image, audio or video was declared: found must be of the same family,
//     or be unknown, or be a container that holds either (an audio in MP4, 3GP,
//     WebM or Ogg), else Save returns a [*Mismatch] of "type". An SVG is a
//     document, not an image.
//   - Any other type was declared: a document may be anything, there is no
//     error.
//   - Where the two agree, or found says less than was declared (a ZIP for a
//     word processor's file, plain text for CSV), the declared type is kept with
//     its parameters; where they do not, found replaces it.
//
// # What is in a file
//
// [Inspect] finds the size of images and videos, how long audio and video last,
// how many pages a PDF has, and makes a small preview of images. It is meant for
// files of strangers: it reads and decodes within bounds of time and memory, and
// says 0 of what it cannot find. An image is not decoded when it has more pixels
// than a camera of 12 megapixels makes; EXIF orientation is not applied.
//
// # Links
//
// [Library.Link] is the address of a file, "files/<id>/<signature>/<name>",
// relative to where the Library is mounted as an [http.Handler]. All who have the
// link may read the file. It is made of the file's id, its name and the first
// secret, so it is always the same as long as the secrets are; keep it beside
// the message, because it stays valid when a secret is put before the one it was
// signed with, while a new call would sign with the new one. It ends with
// [Library.Delete].
//
// Files of strangers are served so that a browser runs none of them: only what
// is a picture, audio or video by its own bytes is shown in place.
package media
