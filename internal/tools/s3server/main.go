// Command s3server is rclone with only its S3 server on a local folder. The tests
// of media files start it. It is a separate module, so that neither users of
// Trunkline nor the linters get its dependencies.
package main

import (
	_ "github.com/rclone/rclone/backend/local" // the folder
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/serve"
	_ "github.com/rclone/rclone/cmd/serve/s3" // the server
)

func main() { cmd.Main() }
