// Package media stores the files of messages. It reads a file from a stream, checks
// it, extracts properties such as its size, stores it in a folder or a bucket, and
// serves it by a link that cannot be guessed. The package does not know messages
// and has no tables: the caller stores what [Library.Save] returns.
//
// # A library
//
//	folder, err := media.OpenFolder("/var/lib/shop/media")
//	lib, err := media.New(folder, &media.Options{Secrets: []string{secret}})
//	go lib.Run(ctx) // removes what a killed process left half written
//
// Package messaging/media/s3 is another [Store], for a bucket that several nodes
// share.
//
// # Saving a file
//
// Save reads a stream to its end, once, and never holds it in memory. It enforces a
// limit while it reads, compares the file with what was declared, and stores
// nothing if they differ:
//
//	f, err := lib.Save(ctx, response.Body, media.Upload{
//		Max:    16 << 20,
//		SHA256: promised,
//		Type:   "audio/ogg; codecs=opus",
//	})
//
// The error is a [*TooLarge], a [*Mismatch], [ErrEmpty], [ErrFull], or the error of
// the stream.
//
// # The type of a file
//
// The type comes from the first 4 KiB of the file, and the declared type adds what
// they do not tell:
//
//   - If no type or application/octet-stream is declared, the detected type applies.
//   - If an image, audio or video is declared, the detected type must be of the same
//     family, be unknown, or be a container for it (such as an audio in MP4, 3GP, WebM
//     or Ogg). Otherwise Save returns a [*Mismatch] of "type". An SVG is a document,
//     not an image.
//   - Any other declared type is never an error: a document may be anything.
//   - If both types agree, or the detected type is less specific (a ZIP for a word
//     processor's file, plain text for CSV), the declared type applies with its
//     parameters. Otherwise the detected type applies.
//
// # Properties of a file
//
// [Inspect] determines the size of images and videos, the duration of audio and
// video and the number of pages of a PDF, and makes a small preview of images. It
// is safe for untrusted files: its time and memory are limited, and properties that
// it cannot determine are 0. Images with more than 12 megapixels are not decoded.
// EXIF orientation is ignored.
//
// # Links
//
// [Library.Link] returns the address of a file, "files/<id>/<signature>/<name>",
// relative to where the Library is mounted as an [http.Handler]. Everyone who has
// the link may read the file. A link depends on the id, the name and the first
// secret. Store it with the message: it remains valid when a new secret is put
// before the one that signed it, while Link would then return another one.
// [Library.Delete] invalidates it.
//
// Untrusted files are served so that a browser does not run them: only files whose
// content is a picture, audio or video are shown inline.
package media
