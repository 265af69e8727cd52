// Command told prints its release.
package main

import (
	"fmt"

	"crossgate/internal/release"
)

func main() { fmt.Println(release.Current()) }
