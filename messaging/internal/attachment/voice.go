package attachment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// voiceNoteType is the type of voice notes: networks show no other as such.
	voiceNoteType = "audio/ogg; codecs=opus"
	// voiceNoteTimeout bounds the conversion of one file.
	voiceNoteTimeout = time.Minute
	// maxVoiceSource is the longest voice note: hours of it.
	maxVoiceSource = 16 << 20
	// voiceSources are the forms that are converted: none of them names
	// another file.
	voiceSources = "aac,amr,flac,matroska,webm,mov,mp4,m4a,3gp,mp3,ogg,wav"
)

// noFfmpegText says what is missing without it.
const noFfmpegText = "needs a file with one channel of Opus in Ogg: this server has no ffmpeg to convert others"

// canConvertAudio says whether other audio can be made a voice note.
func canConvertAudio() bool {
	_, err := exec.LookPath("ffmpeg")
	return err == nil
}

// makeVoiceNote makes a voice note of an audio file, unless that was done before.
func (fs *Files) makeVoiceNote(ctx context.Context, id string) error {
	obj, err := fs.Library.Open(ctx, voiceNoteID(id))
	if err == nil {
		return obj.Close()
	}
	if !errors.Is(err, media.ErrNotFound) {
		return err
	}
	from, err := fs.spill(ctx, id)
	if err != nil {
		return err
	}
	defer os.Remove(from) //nolint:errcheck // a temporary file
	return fs.convert(ctx, from, voiceNoteID(id))
}

// spill copies a file of the library to where ffmpeg can seek in it.
func (fs *Files) spill(ctx context.Context, id string) (string, error) {
	obj, err := fs.Library.Open(ctx, id)
	if err != nil {
		return "", err
	}
	defer obj.Close() //nolint:errcheck // only read
	f, err := os.CreateTemp("", "trunkline-voice-*")
	if err != nil {
		return "", fmt.Errorf("converting a voice note: %w", err)
	}
	_, err = io.Copy(f, obj)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("converting a voice note: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// convert makes one channel of Opus of a file, which a stranger may have made.
func (fs *Files) convert(ctx context.Context, from, id string) error {
	ctx, cancel := context.WithTimeout(ctx, voiceNoteTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ffmpeg", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,pipe", //nolint:gosec // our own file
		"-format_whitelist", voiceSources, "-i", from, "-vn", "-map_metadata", "-1", "-ac", "1", "-ar", "48000",
		"-c:a", "libopus", "-b:a", "32k", "-f", "ogg", "pipe:1")
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("converting a voice note: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("converting a voice note: %w", err)
	}
	_, err = fs.Library.Save(ctx, &ended{out, cmd}, media.Upload{ID: id, Max: maxVoiceSource, Type: voiceNoteType})
	cancel() // it may still write, and its output is not read
	var large *media.TooLarge
	var other *media.Mismatch
	var failed *exec.ExitError
	if errors.As(err, &large) || errors.As(err, &other) || errors.As(err, &failed) || errors.Is(err, media.ErrEmpty) {
		return &provider.Rejected{Code: "voice", Message: "The audio cannot be converted to a voice note."}
	}
	return err
}

// ended is the output of a command whose failure is an error of the stream.
type ended struct {
	io.Reader
	cmd *exec.Cmd
}

func (e *ended) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		if failed := e.cmd.Wait(); failed != nil {
			err = failed
		}
	}
	return n, err
}
